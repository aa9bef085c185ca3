import { z } from 'zod';
import { route } from '../../http/route.ts';
import type { ResolvedAgent } from '../../loop/agent.ts';
import { ChatBody } from '../../protocols/ai-sdk/request.ts';
import { Invalid, Outcome } from '../../schema/outcome.ts';
import { clientOf } from '../protocol-runs.ts';
import type { RouteDeps } from '../route-deps.ts';
import { chatStart, createChatRun } from './runs.ts';

/** Runs of an unsaved agent (chat-and-agui.md 10): its draft is published for these runs only. */

const Draft = z.looseObject({
  id: z.string().nullish(),
  model_id: z.string().nullish(),
  backend: z
    .looseObject({
      kind: z.string().optional(),
      config: z.looseObject({ model_id: z.string().nullish() }).optional(),
    })
    .nullish(),
  endpoint: z.unknown().optional(),
  registry: z.unknown().optional(),
});
type Draft = z.output<typeof Draft>;

const PreviewBody = z.intersection(z.object({ agent: Draft }), ChatBody);

const DEFAULT_ID = 'draft-preview';

export const previewRoutes = (deps: RouteDeps) => {
  const run = createChatRun(deps);
  const publish = createDrafts(deps);
  return [
    route.post('/v1/ai-sdk/agent-previews/runs', {
      ...chatStart,
      id: 'previewAgent',
      summary: 'Chat with an unsaved agent',
      description: 'The draft is published for this run only and validated like a save.',
      needs: 'configure:agents',
      body: PreviewBody,
      responses: { ...chatStart.responses },
      async handle({ body, ...request }) {
        const agent = await publish(body.agent);
        return run(clientOf(request), { ...body, agent_id: agent.spec.id }, agent);
      },
    }),
  ];
};

const createDrafts =
  ({ publishDraft, settings }: Pick<RouteDeps, 'publishDraft' | 'settings'>) =>
  async (draft: Draft): Promise<ResolvedAgent> => {
    checkDraft(draft, settings.local_backend_kind);
    const id = draft.id?.trim() || DEFAULT_ID;
    try {
      return await publishDraft({ ...draft, id });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof Outcome) throw new Invalid(`invalid preview agent '${id}': ${reason}`);
      throw new Error(`failed to publish draft preview registry: ${reason}`, { cause: error });
    }
  };

/** @throws Invalid */
const checkDraft = ({ model_id, backend, endpoint, registry }: Draft, localKind: string): void => {
  const isRemote = backend?.kind !== undefined && backend.kind !== 'local' && backend.kind !== localKind;
  if (isRemote || (endpoint ?? registry ?? null) !== null) {
    throw new Invalid(
      'preview agent payload must not carry remote backend, `endpoint`, or `registry` fields',
    );
  }
  const model = model_id ?? backend?.config?.model_id ?? '';
  if (model.trim() === '') throw new Invalid('preview agent model_id cannot be empty');
};
