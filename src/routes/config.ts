import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { ConfigEntryMeta } from '../schema/config-answers.ts';
import { CONFIG_NAMESPACES } from '../schema/config-record.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { JsonObject } from '../schema/json.ts';
import { NotFound } from '../schema/outcome.ts';
import { identifyCaller } from './caller.ts';
import { choice } from './choice.ts';
import { ConfigEntry, ConfigEntryInput } from './entry-schemas.ts';
import { EntryList, EntryPage, entriesReply, judgedBody, MovedSecrets, requireConfig } from './managed.ts';
import { EntryId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Entries of all namespaces (config.md 2.2). The service defines the rules, texts and order of checks. */

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
    .meta({ description: 'delete the entry even if other entries depend on it' }),
});

const Dependents = z.array(z.object({ namespace: z.string(), id: z.string() }));

const InUseBody = z
  .object({ error: z.string(), used_by: Dependents.optional() })
  .meta({ id: 'InUse', description: 'Other entries depend on the entry.' });

const RestoreRefusedBody = z.object({ error: z.string(), reason: z.string().optional() }).meta({
  id: 'RestoreRefused',
  description: 'The event contains no restorable entry, or the entry is invalid.',
});

const RestoreBody = z.object({
  version: z
    .union([z.string(), z.int().positive()])
    .meta({ description: 'id of an event of the audit log; for an agent also the number of a version' }),
});

const ValidEntry = z
  .object({ ok: z.literal(true), normalized: ConfigEntry })
  .meta({ id: 'ValidEntry', description: 'The entry as it would be stored.' });

const admin = { tag: 'config', needs: 'observe' } as const;
const missing = { 404: ErrorBody };

export const configRoutes = (deps: Pick<RouteDeps, 'config'>) => [
  ...collectionRoutes(deps),
  ...entryRoutes(deps),
  ...entryReports(deps),
];

const collectionRoutes = (deps: Pick<RouteDeps, 'config'>) => [
  route.get('/v1/config/:ns', {
    ...admin,
    id: 'listConfigEntries',
    summary: 'Entries of a namespace, by id',
    description: 'Secrets are replaced by a marker; saving the marker keeps the secret.',
    params: NsParams,
    query: EntryPage,
    responses: { 200: EntryList, ...missing },
    handle: ({ params, query }) => entriesReply(requireConfig(deps).list(params.ns, query)),
  }),
  route.post('/v1/config/:ns', {
    ...admin,
    needs: 'configure:{ns}',
    id: 'createConfigEntry',
    summary: 'Create an entry',
    description: 'Published at once; runs that start later use it.',
    headers: ['X-Service-Actor'],
    params: NsParams,
    ...judgedBody(ConfigEntryInput),
    responses: { 201: ConfigEntry, ...missing, 409: ErrorBody },
    idempotent: true,
    again: ({ params }, { id }) => reply(201, requireConfig(deps).get(params.ns, String(id))),
    async handle({ params, body, keyed, ...request }) {
      const respond = (entry: JsonObject) => reply(201, entry);
      const accept = keyed?.answers(respond, ({ id = '' }) => ({ id: String(id) }));
      return respond(await requireConfig(deps).create(params.ns, body, identifyCaller(request), accept));
    },
  }),
  route.post('/v1/config/:ns/validate', {
    ...admin,
    needs: 'configure:{ns}',
    id: 'validateConfigEntry',
    summary: 'Validate an entry (dry run)',
    description: 'Runs the checks of a save. `normalized` is the entry that would be stored.',
    params: NsParams,
    query: z.object({
      id: z.string().optional().meta({ description: 'id of the entry that the body would replace' }),
      moved_secrets: MovedSecrets,
    }),
    ...judgedBody(ConfigEntryInput),
    responses: { 200: ValidEntry, ...missing, 409: ErrorBody },
    async handle({ params, query: { id, moved_secrets: dropsSecrets }, body }) {
      const normalized = await requireConfig(deps).validate(params.ns, body, id, { dropsSecrets });
      return { ok: true, normalized };
    },
  }),
  route.get('/v1/config/:ns/$schema', {
    ...admin,
    id: 'getConfigSchema',
    summary: 'JSON Schema of the entries of a namespace',
    description: 'For forms and editors: the writable fields of an entry.',
    params: NsParams,
    responses: { 200: JsonObject, ...missing },
    handle: ({ params }) => requireConfig(deps).schema(params.ns),
  }),
  route.get('/v1/config/:ns/meta', {
    ...admin,
    id: 'listConfigMeta',
    summary: 'Metadata of all entries of a namespace, by id',
    description: 'Revision, times, overrides and origin of each entry.',
    params: NsParams,
    query: EntryPage,
    responses: { 200: z.array(z.object({ id: z.string(), meta: ConfigEntryMeta })), ...missing },
    handle: ({ params, query }) => requireConfig(deps).metas(params.ns, query),
  }),
];

const entryRoutes = (deps: Pick<RouteDeps, 'config'>) => [
  route.get('/v1/config/:ns/:id', {
    ...admin,
    id: 'getConfigEntry',
    summary: 'One entry, with its overrides',
    description: 'Secrets are replaced by a marker.',
    params: Params,
    responses: { 200: ConfigEntry, ...missing },
    // Some clients encode the dollar sign, and the router compares literals without decoding them.
    handle: ({ params: { ns, id } }) =>
      id === '$schema' ? requireConfig(deps).schema(ns) : requireConfig(deps).get(ns, id),
  }),
  route.put('/v1/config/:ns/:id', {
    ...admin,
    needs: 'configure:{ns}',
    id: 'putConfigEntry',
    summary: 'Replace an entry, or create it',
    description: 'Published at once; runs that start later use it.',
    headers: ['X-Service-Actor'],
    params: Params,
    query: z.object({ moved_secrets: MovedSecrets }),
    ...judgedBody(ConfigEntryInput),
    responses: { 200: ConfigEntry, ...missing, 409: ErrorBody },
    handle: ({ params, query: { moved_secrets: dropsSecrets }, body, ...request }) =>
      requireConfig(deps).replace(params.ns, params.id, body, identifyCaller(request), { dropsSecrets }),
  }),
  route.delete('/v1/config/:ns/:id', {
    ...admin,
    needs: 'configure:{ns}',
    id: 'deleteConfigEntry',
    summary: 'Delete an entry',
    description: '409 with the dependents in `used_by`, unless `force` is set.',
    headers: ['X-Service-Actor'],
    params: Params,
    query: Removal,
    responses: { 204: 'empty', ...missing, 409: InUseBody },
    async handle({ params, query, ...request }) {
      await requireConfig(deps).remove(params.ns, params.id, query.force, identifyCaller(request));
      return reply(204);
    },
  }),
];

const entryReports = (deps: Pick<RouteDeps, 'config'>) => [
  route.get('/v1/config/:ns/:id/meta', {
    ...admin,
    id: 'getConfigMeta',
    summary: 'Metadata of one entry',
    description: 'Revision, times, overrides and origin.',
    params: Params,
    responses: { 200: ConfigEntryMeta, ...missing },
    handle: ({ params }) => requireConfig(deps).meta(params.ns, params.id),
  }),
  route.get('/v1/config/:ns/:id/used-by', {
    ...admin,
    id: 'getConfigDependents',
    summary: 'Entries that depend on an entry',
    description: 'A DELETE without `force` is refused while there are any.',
    params: Params,
    responses: { 200: z.object({ used_by: Dependents }), ...missing },
    handle: ({ params }) => ({ used_by: requireConfig(deps).usedBy(params.ns, params.id) }),
  }),
  route.post('/v1/config/:ns/:id/restore', {
    ...admin,
    needs: 'configure:{ns}',
    id: 'restoreConfigEntry',
    summary: 'Restore an entry from an event of the audit log, or an agent from a version',
    description:
      'The audit log contains no secrets: current secrets are kept for an unchanged destination, others are dropped and reported by the diagnostics. The next write publishes the entry.',
    headers: ['X-Service-Actor'],
    params: Params,
    body: RestoreBody,
    responses: { 200: ConfigEntry, ...missing, 404: RestoreRefusedBody },
    handle: ({ params, body, ...request }) =>
      requireConfig(deps).restore(params.ns, params.id, body.version, identifyCaller(request)),
  }),
];
