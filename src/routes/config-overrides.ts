import { z } from 'zod';
import { route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { identifyCaller } from './caller.ts';
import { AgentEntry, AgentOverrides, ToolEntry, ToolOverrides } from './entry-schemas.ts';
import { EntryParams, judgedBody, MovedSecrets, requireConfig } from './managed.ts';
import { EntryId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Overrides of agents and of tool descriptions (config.md 5), which leave the entry itself unchanged. */

const FieldParams = z.object({
  id: EntryId,
  field: z.string().meta({ description: 'name of an overridden field' }),
});

const ValidOverrides = z
  .object({ ok: z.literal(true), normalized: AgentOverrides })
  .meta({ id: 'ValidOverrides', description: 'The overrides as they would be stored.' });

const admin = { tag: 'config', needs: 'observe' } as const;
const refusals = { 404: ErrorBody, 409: ErrorBody };

export const overrideRoutes = (deps: Pick<RouteDeps, 'config'>) => [
  route.post('/v1/config/agents/:id/overrides', {
    ...admin,
    needs: 'configure:agents',
    id: 'previewAgentOverrides',
    summary: 'Validate a change of overrides (dry run)',
    description: '`normalized` is the complete override object that would be stored.',
    params: EntryParams,
    query: z.object({ moved_secrets: MovedSecrets }),
    ...judgedBody(AgentOverrides),
    responses: { 200: ValidOverrides, ...refusals },
    async handle({ params: { id }, query: { moved_secrets: dropsSecrets }, body }) {
      const { overrides } = requireConfig(deps);
      return { ok: true, normalized: await overrides.preview('agents', id, body, { dropsSecrets }) };
    },
  }),
  ...(['agents', 'tools'] as const).flatMap((namespace) => changeRoutes(deps, namespace)),
];

const changeRoutes = (deps: Pick<RouteDeps, 'config'>, namespace: 'agents' | 'tools') => {
  const path = `/v1/config/${namespace}/:id/overrides`;
  return [
    route.patch(path, {
      ...admin,
      needs: `configure:${namespace}`,
      id: `patch${NAME[namespace]}Overrides`,
      summary: `Change overrides of ${OF[namespace]}`,
      description: 'Given fields are overridden; null removes the override of a field.',
      headers: ['X-Service-Actor'],
      params: EntryParams,
      query: z.object({ moved_secrets: MovedSecrets }),
      ...judgedBody(BODY[namespace]),
      responses: { 200: ENTRY[namespace], ...refusals },
      handle: ({ params: { id }, query: { moved_secrets: dropsSecrets }, body, ...request }) =>
        requireConfig(deps).overrides.patch(namespace, id, body, identifyCaller(request), { dropsSecrets }),
    }),
    route.delete(path, {
      ...admin,
      needs: `configure:${namespace}`,
      id: `clear${NAME[namespace]}Overrides`,
      summary: `Remove all overrides of ${OF[namespace]}`,
      description: 'The seeded or saved entry applies again.',
      headers: ['X-Service-Actor'],
      params: EntryParams,
      responses: { 200: ENTRY[namespace], ...refusals },
      handle: ({ params, ...request }) =>
        requireConfig(deps).overrides.clear(namespace, params.id, identifyCaller(request)),
    }),
    route.delete(`${path}/:field`, {
      ...admin,
      needs: `configure:${namespace}`,
      id: `clear${NAME[namespace]}Override`,
      summary: `Remove one override of ${OF[namespace]}`,
      description: 'The seeded or saved value of the field applies again.',
      headers: ['X-Service-Actor'],
      params: FieldParams,
      responses: { 200: ENTRY[namespace], ...refusals },
      handle: ({ params, ...request }) =>
        requireConfig(deps).overrides.clearField(namespace, params.id, params.field, identifyCaller(request)),
    }),
  ];
};

const NAME = { agents: 'Agent', tools: 'Tool' } as const;
const OF = { agents: 'an agent', tools: 'a tool' } as const;
const BODY = { agents: AgentOverrides, tools: ToolOverrides } as const;
const ENTRY = { agents: AgentEntry, tools: ToolEntry } as const;
