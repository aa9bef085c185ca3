import { fields, type Guarded, list, nullable, number, object, optional, text } from '../../data/guard.ts';
import { invalidate } from '../../data/queries.ts';
import { type Paged, pageOf } from '../../list/pages.ts';

/** API keys (identity.md 2.1). */

export const KEYS = '/v1/keys';

/** Grants with which keys can be created. */
export const MAKES = ['keys', 'manage', 'act'] as const;

const shape = {
  ...fields(text, 'id', 'hint', 'name', 'user', 'state', 'created_by', 'actor'),
  grants: optional(list(text)),
  created_at: number,
  ...fields(nullable(number), 'expires_at', 'last_used_at'),
  last_used_ip: nullable(text),
};

export const ApiKey = object(shape);
export type ApiKey = Guarded<typeof ApiKey>;

export const CreatedKey = object({ key: text, ...shape });
export type CreatedKey = Guarded<typeof CreatedKey>;

const KeyPage = pageOf(ApiKey);

export const keysOf = (query: { user?: string | undefined; state?: string | undefined }): Paged<ApiKey> => ({
  path: KEYS,
  query,
  guard: KeyPage,
  idOf: ({ id }) => id,
});

/** Refetches what a change of keys may concern: a new key may come with a new user. */
export const changedKeys = (): void => invalidate(KEYS, '/v1/users');

export const KEY_STATES = ['active', 'expired', 'revoked'] as const;

export const isActive = ({ state }: ApiKey): boolean => state === 'active';

export const DAY_MS = 86_400_000;

/** A key that expires within this time needs attention. */
const SOON_MS = 14 * DAY_MS;

/** The days until an active key expires, rounded up; undefined if it does not expire soon. */
export const expiresSoonIn = (key: ApiKey, now: number): number | undefined => {
  if (!isActive(key) || key.expires_at === null) return undefined;
  const left = key.expires_at - now;
  return left <= SOON_MS ? Math.max(0, Math.ceil(left / DAY_MS)) : undefined;
};
