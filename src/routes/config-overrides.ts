import { z } from 'zod';
import { route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { callerOf } from './caller.ts';
import { AgentEntry, AgentOverrides, ToolEntry, ToolOverrides } from './entry-schemas.ts';
import { configOf, EntryParams, judgedBody } from './managed.ts';
import { EntryId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** Overrides of agents and of descriptions of tools (config.md 5): over an entry that stays as it is. */

const FieldParams = z.object({
  id: EntryId,
  field: z.string().meta({ description: 'name of an overridden field' }),
});

const ValidOverrides = z
  .object({ ok: z.literal(true), normalized: AgentOverrides })
  .meta({ id: 'ValidOverrides', description: 'The overrides as they would be stored.' });

const admin = { tag: 'config', scope: 'admin' } as const;
const refusals = { 404: ErrorBody, 409: ErrorBody };

export const overrideRoutes = (rooms: Pick<Rooms, 'config'>) => [
  route.post('/v1/config/agents/:id/overrides', {
    ...admin,
    id: 'previewAgentOverrides',
    summary: 'What a change of overrides would leave; nothing is stored',
    description: '`normalized` is the whole object of overrides that would be stored.',
    params: EntryParams,
    ...judgedBody(AgentOverrides),
    responses: { 200: ValidOverrides, ...refusals },
    async handle({ params, body }) {
      return { ok: true, normalized: await configOf(rooms).overrides.preview('agents', params.id, body) };
    },
  }),
  ...(['agents', 'tools'] as const).flatMap((namespace) => changeRoutes(rooms, namespace)),
];

const changeRoutes = (rooms: Pick<Rooms, 'config'>, namespace: 'agents' | 'tools') => {
  const path = `/v1/config/${namespace}/:id/overrides`;
  return [
    route.patch(path, {
      ...admin,
      id: `patch${NAME[namespace]}Overrides`,
      summary: `Change overrides of ${OF[namespace]}`,
      description: 'Fields that are given are overridden; null removes the override of a field.',
      headers: ['X-Service-Actor'],
      params: EntryParams,
      ...judgedBody(BODY[namespace]),
      responses: { 200: ENTRY[namespace], ...refusals },
      handle: ({ params, body, ...request }) =>
        configOf(rooms).overrides.patch(namespace, params.id, body, callerOf(request)),
    }),
    route.delete(path, {
      ...admin,
      id: `clear${NAME[namespace]}Overrides`,
      summary: `Remove all overrides of ${OF[namespace]}`,
      description: 'The entry is again as it was seeded or saved.',
      headers: ['X-Service-Actor'],
      params: EntryParams,
      responses: { 200: ENTRY[namespace], ...refusals },
      handle: ({ params, ...request }) =>
        configOf(rooms).overrides.clear(namespace, params.id, callerOf(request)),
    }),
    route.delete(`${path}/:field`, {
      ...admin,
      id: `clear${NAME[namespace]}Override`,
      summary: `Remove one override of ${OF[namespace]}`,
      description: 'The field is again as it was seeded or saved.',
      headers: ['X-Service-Actor'],
      params: FieldParams,
      responses: { 200: ENTRY[namespace], ...refusals },
      handle: ({ params, ...request }) =>
        configOf(rooms).overrides.clearField(namespace, params.id, params.field, callerOf(request)),
    }),
  ];
};

const NAME = { agents: 'Agent', tools: 'Tool' } as const;
const OF = { agents: 'an agent', tools: 'a tool' } as const;
const BODY = { agents: AgentOverrides, tools: ToolOverrides } as const;
const ENTRY = { agents: AgentEntry, tools: ToolEntry } as const;
