import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { CONFIG_NAMESPACES } from '../schema/config-record.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { NotFound } from '../schema/outcome.ts';
import { callerOf } from './caller.ts';
import { choice } from './choice.ts';
import { AnyBody, configOf, Entry, EntryList, EntryPage, ValidEntry } from './managed.ts';
import type { Rooms } from './rooms.ts';

/** Entries of all namespaces (config.md 2.2). Rules, texts and order of checks are those of the service. */

const Namespace = choice(
  CONFIG_NAMESPACES,
  (given) => new NotFound(`unknown namespace: ${given}; there are ${CONFIG_NAMESPACES.join(', ')}`),
);

const NsParams = z.object({ ns: Namespace });
const Params = z.object({ ns: Namespace, id: z.string() });

const Meta = z
  .object({
    source: z.object({ kind: z.enum(['user', 'builtin']), binary_version: z.string().optional() }),
    hidden: z.boolean(),
    user_overrides: Entry.optional(),
    created_at: z.int().meta({ description: 'milliseconds since the epoch; 0 = unknown' }),
    updated_at: z.int(),
    revision: z.int(),
    version: z.int().meta({ description: 'the same as `revision`' }),
    actor: z.string(),
  })
  .meta({ id: 'ConfigEntryMeta' });

const Removal = z.object({
  force: z
    .enum(['true', 'false'])
    .optional()
    .transform((force) => force === 'true')
    .meta({ description: 'also while other entries depend on it' }),
});

const InUseBody = z
  .object({
    error: z.string(),
    used_by: z.array(z.object({ namespace: z.string(), id: z.string() })).optional(),
  })
  .meta({ id: 'InUse' });

const RestoreRefusedBody = z
  .object({ error: z.string(), reason: z.string().optional() })
  .meta({ id: 'RestoreRefused' });

const RestoreBody = z.object({
  version: z.string().meta({ description: 'id of an event of the audit log' }),
});

const admin = { tag: 'config', scope: 'admin' } as const;
const refusals = { 400: ErrorBody, 401: ErrorBody, 404: ErrorBody };
/** A store that cannot be written is 503. */
const writeRefusals = { ...refusals, 503: ErrorBody };

export const configRoutes = (rooms: Pick<Rooms, 'config'>) => [
  ...collectionRoutes(rooms),
  ...entryRoutes(rooms),
];

const collectionRoutes = (rooms: Pick<Rooms, 'config'>) => [
  route.get('/v1/config/:ns', {
    ...admin,
    summary: 'Entries of a namespace, by id',
    params: NsParams,
    query: EntryPage,
    responses: { 200: EntryList, ...refusals },
    handle: ({ params, query }) => configOf(rooms).list(params.ns, query),
  }),
  route.post('/v1/config/:ns', {
    ...admin,
    summary: 'Create an entry',
    params: NsParams,
    body: AnyBody,
    responses: { 201: Entry, ...writeRefusals, 409: ErrorBody },
    async handle({ params, body, ...request }) {
      return reply(201, await configOf(rooms).create(params.ns, body, callerOf(request)));
    },
  }),
  route.post('/v1/config/:ns/validate', {
    ...admin,
    summary: 'What a save would refuse; nothing is stored',
    params: NsParams,
    query: z.object({
      id: z.string().optional().meta({ description: 'of the entry that the body would replace' }),
    }),
    body: AnyBody,
    responses: { 200: ValidEntry, ...refusals, 409: ErrorBody },
    async handle({ params, query, body }) {
      return { ok: true, normalized: await configOf(rooms).validate(params.ns, body, query.id) };
    },
  }),
  route.get('/v1/config/:ns/$schema', {
    ...admin,
    summary: 'JSON Schema of the entries of a namespace',
    params: NsParams,
    responses: { 200: Entry, ...refusals },
    handle: ({ params }) => configOf(rooms).schema(params.ns),
  }),
  route.get('/v1/config/:ns/meta', {
    ...admin,
    summary: 'Metadata of all entries of a namespace, by id',
    params: NsParams,
    query: EntryPage,
    responses: { 200: z.array(z.object({ id: z.string(), meta: Meta })), ...refusals },
    handle: ({ params, query }) => configOf(rooms).metas(params.ns, query),
  }),
];

const entryRoutes = (rooms: Pick<Rooms, 'config'>) => [
  route.get('/v1/config/:ns/:id', {
    ...admin,
    summary: 'One entry, with its overrides',
    params: Params,
    responses: { 200: Entry, ...refusals },
    // Some clients encode the dollar sign, and the router compares paths as they were sent.
    handle: ({ params: { ns, id } }) =>
      id === '$schema' ? configOf(rooms).schema(ns) : configOf(rooms).get(ns, id),
  }),
  route.put('/v1/config/:ns/:id', {
    ...admin,
    summary: 'Replace an entry, or create it',
    params: Params,
    body: AnyBody,
    responses: { 200: Entry, ...writeRefusals, 409: ErrorBody },
    handle: ({ params, body, ...request }) =>
      configOf(rooms).replace(params.ns, params.id, body, callerOf(request)),
  }),
  route.delete('/v1/config/:ns/:id', {
    ...admin,
    summary: 'Delete an entry that nothing depends on, or with force any',
    params: Params,
    query: Removal,
    responses: { 204: 'empty', ...writeRefusals, 409: InUseBody },
    async handle({ params, query, ...request }) {
      await configOf(rooms).remove(params.ns, params.id, query.force, callerOf(request));
      return reply(204);
    },
  }),
  route.get('/v1/config/:ns/:id/meta', {
    ...admin,
    summary: 'Metadata of one entry',
    params: Params,
    responses: { 200: Meta, ...refusals },
    handle: ({ params }) => configOf(rooms).meta(params.ns, params.id),
  }),
  route.post('/v1/config/:ns/:id/restore', {
    ...admin,
    summary: 'Put an entry back to what an event of the audit log recorded; the next write publishes it',
    params: Params,
    body: RestoreBody,
    responses: { 200: Entry, ...refusals, 404: RestoreRefusedBody, 422: ErrorBody, 503: ErrorBody },
    handle: ({ params, body, ...request }) =>
      configOf(rooms).restore(params.ns, params.id, body.version, callerOf(request)),
  }),
];
