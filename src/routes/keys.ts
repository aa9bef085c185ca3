import { z } from 'zod';
import { examples } from '../http/described.ts';
import { listReply } from '../http/list-reply.ts';
import { reply, route } from '../http/route.ts';
import { ApiKey, ApiKeyList, CreatedKey, KeyChange, KeyState, NewKey, Rotation } from '../schema/api-key.ts';
import { ErrorBody } from '../schema/error-body.ts';
import type { JsonObject } from '../schema/json.ts';
import { Conflict } from '../schema/outcome.ts';
import { Cursor, Limit, Offset } from '../schema/paging.ts';
import type { Credential } from '../schema/principal.ts';
import { MOST_EXAMINED, type Page, Position } from '../store/index.ts';
import { byOf } from './caller.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { RouteDeps } from './route-deps.ts';

/** API keys (identity.md 2.1). */

const KeyParams = z.object({ id: z.string().meta({ description: 'id of a key' }) });

const KeyQuery = z.object({
  offset: Offset,
  limit: Limit,
  cursor: Cursor,
  user: z
    .string()
    .optional()
    .meta({ description: 'only keys of this user; others than oneself need `manage`' }),
  state: KeyState.optional().meta({ description: 'only keys in this state' }),
  of_scope: z.string().optional().meta({ description: 'default: the scope of the caller; needs `admin`' }),
});
type KeyQuery = z.output<typeof KeyQuery>;

const Revocation = z.object({
  runs: z.enum(['keep', 'cancel']).default('keep').meta({
    description:
      '`cancel`: also cancels the open runs that the key started, and those of the keys that it replaced or that replaced it; default: `keep`',
  }),
});

const about = { tag: 'identity' } as const;

/** A key is created for oneself, for users that the caller manages, or for an end user. */
const MAKES = ['keys', 'manage', 'act'] as const;

export const keyRoutes = (deps: Pick<RouteDeps, 'identity' | 'store' | 'runtime'>) => [
  ...collectionRoutes(deps),
  ...keyRoutesOf(deps),
];

/** A response with a key must not be stored by a cache. */
const NO_STORE = { 'cache-control': 'no-store' };

const idOf = ({ id }: CreatedKey): JsonObject => ({ id });

/** A key is not stored, so the response that contains it cannot be sent again. */
const refuseAgain = (_: unknown, { id }: JsonObject): never => {
  throw new Conflict(
    `an earlier request with this Idempotency-Key created the key ${id}, which is shown only once: revoke it and create another one with another Idempotency-Key`,
  );
};

const collectionRoutes = ({ identity: { keys }, store }: Pick<RouteDeps, 'identity' | 'store'>) => [
  route.get('/v1/keys', {
    ...about,
    id: 'listKeys',
    summary: 'API keys, newest first',
    description:
      'The keys of the caller; with `manage` those of the scope. Ended keys are listed for 90 days.',
    needs: 'principal',
    query: KeyQuery,
    responses: { 200: ApiKeyList },
    handle: ({ principal, query }) =>
      listKeys(keys, store, keys.listed(principal, { user: query.user, of_scope: query.of_scope }), query),
  }),
  route.post('/v1/keys', {
    ...about,
    id: 'createKey',
    summary: 'Create an API key',
    description:
      'The key is in this response and nowhere else. `manage` creates keys of services, and the first key of a person together with that person; `act` creates keys of persons for at most a day; `admin` creates any key.',
    needs: MAKES,
    body: NewKey.meta(examples({ name: 'ci', grants: ['invoke:support'], expires_in_secs: 7_776_000 })),
    responses: { 201: CreatedKey, 404: ErrorBody, 409: ErrorBody },
    idempotent: true,
    again: refuseAgain,
    handle: async (request) =>
      reply(201, await keys.create(byOf(request), request.body, request.keyed?.creates(idOf)), NO_STORE),
  }),
];

const keyRoutesOf = ({ identity: { keys }, runtime }: Pick<RouteDeps, 'identity' | 'runtime'>) => [
  route.get('/v1/keys/:id', {
    ...about,
    id: 'getKey',
    summary: 'One API key',
    description: 'Without the key itself. The keys of other users need `manage`.',
    needs: 'principal',
    params: KeyParams,
    responses: { 200: ApiKey, 404: ErrorBody },
    handle: ({ principal, params }) => keys.get(principal, params.id),
  }),
  route.patch('/v1/keys/:id', {
    ...about,
    id: 'updateKey',
    summary: 'Rename a key, narrow it or shorten its life',
    description: 'A change never adds grants or life: create another key for that.',
    needs: 'principal',
    params: KeyParams,
    body: KeyChange,
    responses: { 200: ApiKey, 404: ErrorBody, 409: ErrorBody },
    handle: (request) => keys.update(byOf(request), request.params.id, request.body),
  }),
  route.post('/v1/keys/:id/rotate', {
    ...about,
    id: 'rotateKey',
    summary: 'Replace a key',
    description:
      'Creates a key of the same user, name, grants and life. The previous one works for `grace_secs` longer.',
    needs: MAKES,
    params: KeyParams,
    body: Rotation,
    responses: { 201: CreatedKey, 404: ErrorBody, 409: ErrorBody },
    idempotent: true,
    again: refuseAgain,
    async handle(request) {
      const { grace_secs } = request.body;
      const accept = request.keyed?.creates(idOf);
      return reply(201, await keys.rotate(byOf(request), request.params.id, grace_secs, accept), NO_STORE);
    },
  }),
  route.delete('/v1/keys/:id', {
    ...about,
    id: 'revokeKey',
    summary: 'Revoke a key',
    description:
      'Requests after the response are rejected. Runs that it started continue, unless `runs=cancel` is given; the response then follows the cancellation.',
    needs: 'principal',
    params: KeyParams,
    query: Revocation,
    responses: { 204: 'revoked', 404: ErrorBody },
    async handle(request) {
      const { scope, line } = await keys.revoke(byOf(request), request.params.id);
      if (request.query.runs === 'cancel') await runtime.cancelRunsOf(scope, isOfLine(line));
      return reply(204);
    },
  }),
];

/** Returns whether a credential is a key of this chain of rotations, or a session that was created from one. */
const isOfLine =
  (line: string) =>
  ({ kind, id, line: own = kind === 'key' ? id : undefined }: Credential): boolean =>
    own === line;

const listKeys = (
  keys: RouteDeps['identity']['keys'],
  store: RouteDeps['store'],
  list: { scope: string; user: string | undefined },
  query: KeyQuery,
) => {
  const { state, limit } = query;
  const filters = { ...list, ...(state && { state }) };
  const search = state && {
    wanted: (row: Parameters<typeof keys.view>[0]) => keys.view(row).state === state,
  };
  const page = store.keys.page(
    list,
    { limit, ...startOf('key', query, filters) },
    keys.view,
    search && { ...search, most: MOST_EXAMINED },
  );
  return pageReply('key', page, filters);
};

type Kind = 'key' | 'user';

/** Returns where a page starts. @throws Invalid for a cursor of other filters */
export const startOf = (
  kind: Kind,
  { cursor, offset }: { cursor: string | undefined; offset: number },
  filters: object,
): Pick<Page, 'offset' | 'after'> => {
  if (cursor === undefined) return { offset };
  const start = decodeCursor(cursor, {
    prefix: `${kind}_`,
    kind,
    filters,
    filtered: true,
    position: Position,
  });
  return 'offset' in start ? start : { offset: 0, after: start.position };
};

/** @param filters the query that the cursors continue */
export const pageReply = (
  kind: Kind,
  page: { texts: string[]; total: number; next?: Position; prev?: Position; searched?: number },
  filters: object,
) =>
  listReply('items', page.texts, {
    total: page.total,
    ...(page.searched !== undefined && { searched: page.searched }),
    has_more: page.next !== undefined,
    next_cursor: page.next === undefined ? null : encodeCursor(`${kind}_`, page.next, filters),
    ...(page.prev !== undefined && { prev_cursor: encodeCursor(`${kind}_`, page.prev, filters) }),
  });
