import {
  anything,
  fields,
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
import { pathOf, send } from '../../data/request.ts';
import { type Paged, pageOf } from '../../list/pages.ts';

/** Users of the scope (identity.md 1.1). */

export const USERS = '/v1/users';

export const User = object({
  ...fields(text, 'id', 'scope', 'kind'),
  ...fields(optional(text), 'name', 'email'),
  grants: list(text),
  token_grants: withDefault(list(text), []),
  identity: anything,
  disabled: flag,
  ...fields(number, 'tokens_not_before', 'created_at'),
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

// ---- Sessions, with which browsers are signed in (identity.md 2.5) ----

const SESSIONS = '/v1/sessions';

const Session = object({
  id: text,
  user_agent: nullable(text),
  created_at: number,
  ...fields(optional(text), 'ip', 'last_used_ip'),
  ...fields(optional(number), 'last_used_at', 'expires_at'),
  current: (value) => value === true,
});
export type Session = Guarded<typeof Session>;

export const sessionsOf = (user: string): Resource<{ items: Session[] }> => ({
  path: SESSIONS,
  query: { user },
  guard: object({ items: list(Session) }),
  off: { statuses: [404] },
});

export const endSession = async (id: string): Promise<void> => {
  await send({ method: 'DELETE', path: pathOf`/v1/sessions/${id}` }, anything);
  invalidate(SESSIONS);
};

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** A short name of a browser, such as `Firefox · Linux`; the whole text if it is of another kind. */
export const browserOf = (agent: string | null): string => {
  if (agent === null) return '—';
  const named = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([mark]) => agent.includes(mark))?.[1];
  return [named(BROWSERS), named(SYSTEMS)].filter(Boolean).join(' · ') || agent;
};
