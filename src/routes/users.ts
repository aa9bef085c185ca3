import { z } from 'zod';
import { examples } from '../http/described.ts';
import { reply, route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Cursor, Limit, Offset } from '../schema/paging.ts';
import { NewUser, User, UserChange, UserKind, UserList } from '../schema/user.ts';
import { MOST_EXAMINED, type UserRow } from '../store/index.ts';
import { byOf } from './caller.ts';
import { pageReply, startOf } from './keys.ts';
import type { RouteDeps } from './route-deps.ts';

/** Users of a scope (identity.md 2.2). */

const UserParams = z.object({ id: z.string().meta({ description: 'id of a user' }) });

const of_scope = z
  .string()
  .optional()
  .meta({ description: 'default: the scope of the caller; needs `admin`' });

const ScopeQuery = z.object({ of_scope });

const UserQuery = z.object({
  offset: Offset,
  limit: Limit,
  cursor: Cursor,
  of_scope,
  kind: UserKind.optional().meta({ description: 'only persons, or only services' }),
  q: z
    .string()
    .max(256)
    .optional()
    .meta({ description: 'only users whose id, name or address contains this text, in any case' }),
});
type UserQuery = z.output<typeof UserQuery>;

const RemovalQuery = z.object({
  of_scope,
  threads: z.enum(['keep', 'delete']).default('keep').meta({ description: '`delete` needs `write:all`' }),
});

const ScopeList = z
  .object({ items: z.array(z.string()) })
  .meta({ id: 'ScopeList', description: 'Scopes that have users.' });

const about = { tag: 'identity', needs: 'manage' } as const;

export const userRoutes = (deps: Pick<RouteDeps, 'identity' | 'store'>) => [
  ...collectionRoutes(deps),
  ...userRoutesOf(deps),
];

const collectionRoutes = ({ identity: { users }, store }: Pick<RouteDeps, 'identity' | 'store'>) => [
  route.get('/v1/users', {
    ...about,
    id: 'listUsers',
    summary: 'Users of the scope, by id',
    description: 'Persons and services, with their grants.',
    query: UserQuery,
    responses: { 200: UserList },
    handle: ({ principal, query }) => listUsers(users, store, users.listed(principal, query.of_scope), query),
  }),
  route.post('/v1/users', {
    ...about,
    id: 'createUser',
    summary: 'Create a user',
    description:
      'The caller gives only grants that it has, and service grants only with `admin`. 409 for an id that exists or looks like one that exists.',
    body: NewUser.meta(examples({ id: 'ci-bot', kind: 'service', grants: ['member'] })),
    responses: { 201: User, 409: ErrorBody },
    idempotent: true,
    async handle(request) {
      const respond = (user: User) => reply(201, user);
      return respond(await users.create(byOf(request), request.body, request.keyed?.answers(respond)));
    },
  }),
  route.get('/v1/scopes', {
    tag: 'identity',
    needs: 'admin',
    id: 'listScopes',
    summary: 'Scopes that have users',
    description: 'A scope has no record: it exists by its users and threads.',
    responses: { 200: ScopeList },
    handle: ({ principal }) => ({ items: users.scopes(principal) }),
  }),
];

const userRoutesOf = ({ identity: { users } }: Pick<RouteDeps, 'identity'>) => [
  route.get('/v1/users/:id', {
    ...about,
    needs: 'principal',
    id: 'getUser',
    summary: 'One user',
    description: 'A caller reads itself without a grant; other users need `manage`.',
    params: UserParams,
    query: ScopeQuery,
    responses: { 200: User, 404: ErrorBody },
    handle: ({ principal, params, query }) => users.get(principal, params.id, query.of_scope),
  }),
  route.patch('/v1/users/:id', {
    ...about,
    id: 'updateUser',
    summary: 'Change a user',
    description:
      'Takes effect at the next request of each of its credentials. A user that has a grant which the caller lacks cannot be changed. `identity` needs `admin`.',
    params: UserParams,
    query: ScopeQuery,
    body: UserChange.meta(examples({ grants: ['member', 'keys'] })),
    responses: { 200: User, 404: ErrorBody },
    handle: (request) => users.update(byOf(request), request.params.id, request.body, request.query.of_scope),
  }),
  route.post('/v1/users/:id/sign-out', {
    ...about,
    id: 'signOutUser',
    summary: 'Reject the tokens of a user that were issued before now',
    description: 'API keys continue to work; revoke them, or disable the user.',
    params: UserParams,
    query: ScopeQuery,
    responses: { 200: User, 404: ErrorBody },
    handle: (request) => users.signOut(byOf(request), request.params.id, request.query.of_scope),
  }),
  route.delete('/v1/users/:id', {
    ...about,
    id: 'deleteUser',
    summary: 'Delete a user and end its keys',
    description:
      'Its threads and files stay, unless `threads=delete`. While some stay, the id cannot be used again.',
    params: UserParams,
    query: RemovalQuery,
    responses: { 204: 'deleted', 404: ErrorBody },
    async handle(request) {
      await users.remove(byOf(request), request.params.id, request.query);
      return reply(204);
    },
  }),
];

const listUsers = (
  users: RouteDeps['identity']['users'],
  store: RouteDeps['store'],
  scope: string,
  query: UserQuery,
) => {
  const { kind, q, limit } = query;
  const filters = { scope, ...(kind && { kind }), ...(q && { q }) };
  const search = (kind !== undefined || q !== undefined) && { wanted: matches(query), most: MOST_EXAMINED };
  const start = startOf('user', query, filters);
  return pageReply(
    'user',
    store.users.page(scope, { limit, ...start }, users.view, search || undefined),
    filters,
  );
};

const matches = ({ kind, q = '' }: UserQuery): ((user: UserRow) => boolean) => {
  const text = q.toLowerCase();
  return (user) =>
    (kind === undefined || user.kind === kind) &&
    [user.id, user.name ?? '', user.email ?? ''].some((field) => field.toLowerCase().includes(text));
};
