import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { ConfigEntryMeta } from '../schema/config-answers.ts';
import { CONFIG_NAMESPACES } from '../schema/config-record.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { JsonObject } from '../schema/json.ts';
import { NotFound } from '../schema/outcome.ts';
import { callerOf } from './caller.ts';
import { choice } from './choice.ts';
import { ConfigEntry, ConfigEntryInput } from './entry-schemas.ts';
import { configOf, EntryList, EntryPage, entriesReply, judgedBody } from './managed.ts';
import { EntryId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** Entries of all namespaces (config.md 2.2). Rules, texts and order of checks are those of the service. */

const Namespace = choice(
  CONFIG_NAMESPACES,
  (given) => new NotFound(`unknown namespace: ${given}; there are ${CONFIG_NAMESPACES.join(', ')}`),
).meta({ description: 'namespace of entries' });

const NsParams = z.object({ ns: Namespace });
const Params = z.object({ ns: Namespace, id: EntryId });

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
  .meta({ id: 'InUse', description: 'Others depend on it.' });

const RestoreRefusedBody = z
  .object({ error: z.string(), reason: z.string().optional() })
  .meta({ id: 'RestoreRefused', description: 'There is nothing to restore, or it cannot be used.' });

const RestoreBody = z.object({
  version: z.string().meta({ description: 'id of an event of the audit log' }),
});

const ValidEntry = z
  .object({ ok: z.literal(true), normalized: ConfigEntry })
  .meta({ id: 'ValidEntry', description: 'The entry as it would be stored.' });

const admin = { tag: 'config', scope: 'admin' } as const;
const missing = { 404: ErrorBody };

export const configRoutes = (rooms: Pick<Rooms, 'config'>) => [
  ...collectionRoutes(rooms),
  ...entryRoutes(rooms),
];

const collectionRoutes = (rooms: Pick<Rooms, 'config'>) => [
  route.get('/v1/config/:ns', {
    ...admin,
    id: 'listConfigEntries',
    summary: 'Entries of a namespace, by id',
    description: 'Secrets are shown as a marker; who saves the marker keeps the secret.',
    params: NsParams,
    query: EntryPage,
    responses: { 200: EntryList, ...missing },
    handle: ({ params, query }) => entriesReply(configOf(rooms).list(params.ns, query)),
  }),
  route.post('/v1/config/:ns', {
    ...admin,
    id: 'createConfigEntry',
    summary: 'Create an entry',
    description: 'Published at once: runs that begin from now on have it.',
    headers: ['X-Service-Actor'],
    params: NsParams,
    ...judgedBody(ConfigEntryInput),
    responses: { 201: ConfigEntry, ...missing, 409: ErrorBody },
    async handle({ params, body, ...request }) {
      return reply(201, await configOf(rooms).create(params.ns, body, callerOf(request)));
    },
  }),
  route.post('/v1/config/:ns/validate', {
    ...admin,
    id: 'validateConfigEntry',
    summary: 'What a save would refuse; nothing is stored',
    description:
      'The checks of a save, in their order and with their texts. `normalized` is what would be stored.',
    params: NsParams,
    query: z.object({
      id: z.string().optional().meta({ description: 'of the entry that the body would replace' }),
    }),
    ...judgedBody(ConfigEntryInput),
    responses: { 200: ValidEntry, ...missing, 409: ErrorBody },
    async handle({ params, query, body }) {
      return { ok: true, normalized: await configOf(rooms).validate(params.ns, body, query.id) };
    },
  }),
  route.get('/v1/config/:ns/$schema', {
    ...admin,
    id: 'getConfigSchema',
    summary: 'JSON Schema of the entries of a namespace',
    description: 'For forms and editors: the fields of an entry as it is written.',
    params: NsParams,
    responses: { 200: JsonObject, ...missing },
    handle: ({ params }) => configOf(rooms).schema(params.ns),
  }),
  route.get('/v1/config/:ns/meta', {
    ...admin,
    id: 'listConfigMeta',
    summary: 'Metadata of all entries of a namespace, by id',
    description: 'Revision, times, overrides and where it comes from, of each.',
    params: NsParams,
    query: EntryPage,
    responses: { 200: z.array(z.object({ id: z.string(), meta: ConfigEntryMeta })), ...missing },
    handle: ({ params, query }) => configOf(rooms).metas(params.ns, query),
  }),
];

const entryRoutes = (rooms: Pick<Rooms, 'config'>) => [
  route.get('/v1/config/:ns/:id', {
    ...admin,
    id: 'getConfigEntry',
    summary: 'One entry, with its overrides',
    description: 'Secrets are shown as a marker.',
    params: Params,
    responses: { 200: ConfigEntry, ...missing },
    // Some clients encode the dollar sign, and the router compares paths as they were sent.
    handle: ({ params: { ns, id } }) =>
      id === '$schema' ? configOf(rooms).schema(ns) : configOf(rooms).get(ns, id),
  }),
  route.put('/v1/config/:ns/:id', {
    ...admin,
    id: 'putConfigEntry',
    summary: 'Replace an entry, or create it',
    description: 'Published at once: runs that begin from now on have it.',
    headers: ['X-Service-Actor'],
    params: Params,
    ...judgedBody(ConfigEntryInput),
    responses: { 200: ConfigEntry, ...missing, 409: ErrorBody },
    handle: ({ params, body, ...request }) =>
      configOf(rooms).replace(params.ns, params.id, body, callerOf(request)),
  }),
  route.delete('/v1/config/:ns/:id', {
    ...admin,
    id: 'deleteConfigEntry',
    summary: 'Delete an entry that nothing depends on, or with force any',
    description: '409 with those that depend on it in `used_by`; `force` deletes it all the same.',
    headers: ['X-Service-Actor'],
    params: Params,
    query: Removal,
    responses: { 204: 'empty', ...missing, 409: InUseBody },
    async handle({ params, query, ...request }) {
      await configOf(rooms).remove(params.ns, params.id, query.force, callerOf(request));
      return reply(204);
    },
  }),
  route.get('/v1/config/:ns/:id/meta', {
    ...admin,
    id: 'getConfigMeta',
    summary: 'Metadata of one entry',
    description: 'Its revision, its times, its overrides and where it comes from.',
    params: Params,
    responses: { 200: ConfigEntryMeta, ...missing },
    handle: ({ params }) => configOf(rooms).meta(params.ns, params.id),
  }),
  route.post('/v1/config/:ns/:id/restore', {
    ...admin,
    id: 'restoreConfigEntry',
    summary: 'Put an entry back to what an event of the audit log recorded; the next write publishes it',
    description: 'Secrets are in no audit log: they stay as they are stored now, or are left out.',
    headers: ['X-Service-Actor'],
    params: Params,
    body: RestoreBody,
    responses: { 200: ConfigEntry, ...missing, 404: RestoreRefusedBody },
    handle: ({ params, body, ...request }) =>
      configOf(rooms).restore(params.ns, params.id, body.version, callerOf(request)),
  }),
];
