import {
  anything,
  flag,
  type Guarded,
  isObject,
  list,
  nullable,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { invalidate, type Resource } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';
import { type Paged, pageOf } from '../../list/pages.ts';

/** Users of the scope (identity.md 1.1). */

export const USERS = '/v1/users';

export const User = object({
  id: text,
  scope: text,
  kind: text,
  name: optional(text),
  email: optional(text),
  grants: list(text),
  token_grants: withDefault(list(text), []),
  identity: anything,
  disabled: flag,
  tokens_not_before: number,
  created_at: number,
  last_seen_at: nullable(number),
});
export type User = Guarded<typeof User>;

export const USER_KINDS = ['person', 'service'] as const;

const UserPage = pageOf(User);

export const usersOf = (query: { kind?: string | undefined; q?: string | undefined }): Paged<User> => ({
  path: USERS,
  query,
  guard: UserPage,
  idOf: ({ id }) => id,
});

export const userOf = (id: string): Resource<User> => ({ path: pathOf`/v1/users/${id}`, guard: User });

const MOST_SUGGESTED = 200;

/** Users that an input suggests. */
export const someUsers: Resource<{ items: { id: string; name: string | undefined }[] }> = {
  path: USERS,
  query: { limit: MOST_SUGGESTED },
  guard: object({ items: list(object({ id: text, name: optional(text) })) }),
};

export const userHref = (id: string): string => `/users/${encodeURIComponent(id)}`;

/** Refetches what a change of a user may concern. */
export const changedUsers = (): void => invalidate(USERS, '/v1/keys');

/** The account of an identity provider: its parts, `pending`, or undefined. */
export const identityOf = ({
  identity,
}: User): 'pending' | { issuer: string; subject: string } | undefined => {
  if (identity === 'pending') return identity;
  if (!isObject(identity)) return undefined;
  return { issuer: String(identity.issuer), subject: String(identity.subject) };
};
