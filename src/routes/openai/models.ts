import { z } from 'zod';
import { route } from '../../http/route.ts';
import type { ResolvedAgent } from '../../loop/agent.ts';
import { modelNotFound, OPENAI_ERRORS } from '../../protocols/openai/errors.ts';
import { unixSeconds } from '../../protocols/openai/ids.ts';
import { listBody, listOfItems } from '../../protocols/openai/list.ts';
import { addressOf, UnknownAddress } from '../../schema/agent-address.ts';
import { Invalid } from '../../schema/outcome.ts';
import { may, type Principal } from '../../schema/principal.ts';
import { createNamedAgents } from '../named-agent.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/** Agents as models (openai.md 3): those that the caller may invoke and that match `openai.agents`. */

export const TAG = 'OpenAI';

const Model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().meta({ description: 'seconds since the epoch' }),
    owned_by: z.literal('troupe'),
    description: z.string().optional(),
    context_window: z.int().optional(),
  })
  .meta({ id: 'OpenAiModel', description: 'An agent.' });
type Model = z.output<typeof Model>;

const ModelList = listOfItems(Model).meta({
  id: 'OpenAiModelList',
  description: 'All agents of the caller.',
});

export const modelRoutes = (deps: OpenAiDeps) => {
  const models = createModelList(deps);
  return [
    route.get('/v1/models', {
      id: 'listOpenAiModels',
      summary: 'Agents as models, by id',
      description: 'Agents that the caller may invoke and that match `openai.agents`, in one list.',
      tag: TAG,
      needs: 'invoke',
      errors: OPENAI_ERRORS,
      responses: { 200: ModelList, 426: OPENAI_ERRORS.schema },
      handle: ({ principal }) =>
        listBody(
          models().filter(({ id }) => may(principal, ['invoke', id])),
          false,
        ),
    }),
    route.get('/v1/models/:model*', {
      id: 'getOpenAiModel',
      summary: 'One agent as a model',
      description: 'The id is the rest of the path, and may contain slashes.',
      tag: TAG,
      needs: 'invoke',
      errors: OPENAI_ERRORS,
      params: z.object({ model: z.string().meta({ description: 'id of an agent' }) }),
      responses: { 200: Model, 404: OPENAI_ERRORS.schema },
      handle({ principal, params: { model } }) {
        const found = may(principal, ['invoke', model]) && models().find(({ id }) => id === model);
        if (!found) throw modelNotFound(model);
        return found;
      },
    }),
  ];
};

/**
 * Returns the agent that a request names as its model: by id, or by the address of a version or a draft.
 * @throws OpenAiError
 */
export const agentOfModel = (
  deps: Pick<OpenAiDeps, 'globs' | 'isAgent' | 'resolve' | 'resolveAddress'>,
  principal: Principal,
  model: string,
): ResolvedAgent | Promise<ResolvedAgent> => {
  const { globs, isAgent, resolve } = deps;
  const isModel = (id: string): boolean =>
    globs.some((matches) => matches(id)) && may(principal, ['invoke', id]);
  if (isAgent(model)) {
    if (isModel(model)) return resolve(model);
    throw modelNotFound(model);
  }
  const address = addressOf(model);
  if (!address || !isModel(address.agent_id)) throw modelNotFound(model);
  return agentAt(deps, principal, model);
};

/** @throws OpenAiError */
const agentAt = async (
  deps: Pick<OpenAiDeps, 'isAgent' | 'resolve' | 'resolveAddress'>,
  principal: Principal,
  model: string,
): Promise<ResolvedAgent> => {
  try {
    return await createNamedAgents(deps)(principal, model);
  } catch (error) {
    if (error instanceof UnknownAddress) throw modelNotFound(model);
    throw error;
  }
};

/** Created once per publication. */
const createModelList = ({
  published,
  globs,
  resolve,
  store,
}: Pick<OpenAiDeps, 'published' | 'globs' | 'resolve' | 'store'>): (() => readonly Model[]) => {
  let of: object | undefined;
  let models: readonly Model[] = [];
  const describe = (id: string, published_at: number): Model => {
    const agent = resolved(resolve, id);
    const created_at = store.config.get('agents', id)?.created_at || published_at;
    const { description = '' } = agent?.spec ?? {};
    return {
      id,
      object: 'model',
      created: unixSeconds(created_at),
      owned_by: 'troupe',
      ...(description.trim() !== '' && { description: description.trim() }),
      ...(agent?.contextWindow !== undefined && { context_window: agent.contextWindow }),
    };
  };
  return () => {
    const now = published();
    if (of === now) return models;
    of = now;
    models = now.ids
      .filter((id) => globs.some((matches) => matches(id)))
      .sort()
      .map((id) => describe(id, now.published_at));
    return models;
  };
};

/** An agent that cannot be resolved is listed, because its runs report the reason. */
const resolved = (resolve: OpenAiDeps['resolve'], id: string): ResolvedAgent | undefined => {
  try {
    return resolve(id);
  } catch (error) {
    if (error instanceof Invalid) return undefined;
    throw error;
  }
};
