import { z } from 'zod';
import { route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { callerOf } from './caller.ts';
import { AnyBody, configOf, Entry, EntryParams, ValidEntry } from './managed.ts';
import type { Rooms } from './rooms.ts';

/** Overrides of agents and of descriptions of tools (config.md 5): over an entry that stays as it is. */

const FieldParams = z.object({ id: z.string(), field: z.string() });

const admin = { tag: 'config', scope: 'admin' } as const;
const refusals = { 400: ErrorBody, 401: ErrorBody, 404: ErrorBody, 409: ErrorBody };

export const overrideRoutes = (rooms: Pick<Rooms, 'config'>) => [
  route.post('/v1/config/agents/:id/overrides', {
    ...admin,
    summary: 'What a change of overrides would leave; nothing is stored',
    params: EntryParams,
    body: AnyBody,
    responses: { 200: ValidEntry, ...refusals },
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
      summary: `Change overrides of ${OF[namespace]}`,
      params: EntryParams,
      body: AnyBody,
      responses: { 200: Entry, ...refusals, 503: ErrorBody },
      handle: ({ params, body, ...request }) =>
        configOf(rooms).overrides.patch(namespace, params.id, body, callerOf(request)),
    }),
    route.delete(path, {
      ...admin,
      summary: `Remove all overrides of ${OF[namespace]}`,
      params: EntryParams,
      responses: { 200: Entry, ...refusals, 503: ErrorBody },
      handle: ({ params, ...request }) =>
        configOf(rooms).overrides.clear(namespace, params.id, callerOf(request)),
    }),
    route.delete(`${path}/:field`, {
      ...admin,
      summary: `Remove one override of ${OF[namespace]}`,
      params: FieldParams,
      responses: { 200: Entry, ...refusals, 503: ErrorBody },
      handle: ({ params, ...request }) =>
        configOf(rooms).overrides.clearField(namespace, params.id, params.field, callerOf(request)),
    }),
  ];
};

const OF = { agents: 'an agent', tools: 'a tool' } as const;
