import type { Clock } from '../../schema/clock.ts';
import { type Authority, parseTokenGrants } from '../../schema/grants.ts';
import { Unauthorized } from '../../schema/outcome.ts';
import type { Principal } from '../../schema/principal.ts';
import type { KeyRow, Store, UserRow } from '../../store/index.ts';
import type { Changes } from '../changes.ts';
import { createRecent } from '../recent.ts';
import { grantsOf } from '../users/rights.ts';
import { digestOf } from './key-format.ts';

/**
 * Judges API keys (identity.md 2.1, 3.1).
 *
 * Guarantees: synchronous. A change of a key or of its user takes effect at the next request. The last use of a key is written at most once a minute.
 * Cost: a known key costs one hash and one read of a map, no read of the store. Any change of a user or a key costs each
 * known key two reads at its next request.
 */
export type JudgedPrincipal = Principal & {
  /** The header that names the end user, if it is not `X-Service-User`. */
  readonly userHeader?: string;
};

/**
 * @param ip returns the address of the client; called at most once a minute for a key
 * @throws Unauthorized with the text of identity.md 3.1
 */
export type Judge = (token: string, ip: () => string) => JudgedPrincipal;

export type JudgeDeps = {
  store: Pick<Store, 'users' | 'keys' | 'credentials' | 'batch' | 'commit'>;
  clock: Clock;
  changes: Pick<Changes, 'revision'>;
  /** Days for which keys of a user without own grants outlive its newest token. */
  ssoKeyIdleDays: number;
  /** Called when the last use of a key cannot be written. */
  failed(err: unknown): void;
};

type Remembered = {
  readonly principal: JudgedPrincipal;
  readonly revision: number;
  readonly until: number;
  readonly id: string;
  notedAt: number;
};

export const INVALID_CREDENTIAL = 'invalid credential';

const MOST_REMEMBERED = 10_000;
const NOTED_EVERY_MS = 60_000;
const DAY_MS = 86_400_000;

export const createJudge = (deps: JudgeDeps): Judge => {
  const { store, clock, changes } = deps;
  const known = createRecent<Remembered>(MOST_REMEMBERED);

  const read = (digest: string, now: number): Remembered => {
    const credential = store.credentials.get(digest);
    if (credential?.kind !== 'key') throw new Unauthorized(INVALID_CREDENTIAL);
    const { key, user } = present(store, credential.id);
    if (isExpired(key, now)) {
      throw new Unauthorized(`API key '${key.name}' has expired`, { reason: 'expired' });
    }
    const until = untilOf(key, user, deps.ssoKeyIdleDays);
    if (now >= until) throw new Unauthorized('sign in again', { reason: 'expired' });
    const seenAt = store.keys.use(key.id)?.at ?? Number.NEGATIVE_INFINITY;
    return {
      principal: derived(deps, key, user),
      revision: changes.revision,
      until,
      id: key.id,
      notedAt: seenAt,
    };
  };

  const note = (entry: Remembered, now: number, ip: string): void => {
    entry.notedAt = now;
    const { scope, user } = entry.principal;
    const batch = store.batch('commons');
    store.keys.putUse(batch, entry.id, { at: now, ip });
    if (user !== undefined) store.users.putSeen(batch, scope, user, now);
    store.commit(batch).catch(deps.failed);
  };

  return (token, ip) => {
    const digest = digestOf(token);
    const now = clock.now();
    let entry = known.get(digest);
    if (entry === undefined || entry.revision !== changes.revision || now >= entry.until) {
      const notedAt = entry?.notedAt ?? Number.NEGATIVE_INFINITY;
      entry = read(digest, now);
      // The row of the last use may still be on its way.
      entry.notedAt = Math.max(entry.notedAt, notedAt);
      known.set(digest, entry);
    }
    if (now - entry.notedAt >= NOTED_EVERY_MS) note(entry, now, ip());
    return entry.principal;
  };
};

type KeyDeps = Pick<JudgeDeps, 'changes' | 'ssoKeyIdleDays'> & { store: Pick<Store, 'users' | 'keys'> };

/**
 * Returns the principal of a key with its present rights, without regard to its expiry.
 *
 * @throws Unauthorized
 */
export const presentKey = (deps: KeyDeps, id: string): JudgedPrincipal => {
  const { key, user } = present(deps.store, id);
  return derived(deps, key, user);
};

/** Returns a key that is not revoked, and its user. @throws Unauthorized */
const present = (
  { users, keys }: Pick<Store, 'users' | 'keys'>,
  id: string,
): { key: KeyRow; user: UserRow } => {
  const key = keys.get(id);
  if (!key) throw new Unauthorized(INVALID_CREDENTIAL);
  if (key.revoked_at !== null) {
    throw new Unauthorized(`API key '${key.name}' has been revoked`, { reason: 'revoked' });
  }
  const user = users.get(key.scope, key.user);
  if (!user) throw new Unauthorized(INVALID_CREDENTIAL);
  if (user.disabled) throw new Unauthorized(`user '${user.id}' is disabled`, { reason: 'disabled' });
  return { key, user };
};

const derived = (deps: KeyDeps, key: KeyRow, user: UserRow): JudgedPrincipal => ({
  ...principalOf(key, user),
  basis: {
    users: [user.id],
    revision: deps.changes.revision,
    expires_at: untilOf(key, user, deps.ssoKeyIdleDays),
    again: () => presentKey(deps, key.id),
  },
});

const isExpired = ({ expires_at }: KeyRow, now: number): boolean => expires_at !== null && expires_at <= now;

const principalOf = (key: KeyRow, user: UserRow): JudgedPrincipal => {
  const narrowing = [...(key.grants ? [key.grants] : []), ...(key.limits ?? [])];
  const authority: Authority = [grantsOf(user), ...narrowing.map(parseTokenGrants)];
  return {
    scope: key.scope,
    user: key.user,
    authority,
    credential: { kind: 'key', id: key.id, ...(key.line !== key.id && { line: key.line }) },
    ...(key.user_header !== undefined && { userHeader: key.user_header }),
  };
};

/** Returns the time until which a key is accepted. */
const untilOf = (key: KeyRow, user: UserRow, idleDays: number): number =>
  Math.min(key.expires_at ?? Number.POSITIVE_INFINITY, vouchedUntilOf(user, idleDays));

/** A user whose grants all come from its identity provider has them as long as that vouches for it. */
const vouchedUntilOf = ({ grants, token_grants, token_iat }: UserRow, days: number): number =>
  grants.length > 0 || token_grants.length === 0
    ? Number.POSITIVE_INFINITY
    : token_iat * 1000 + days * DAY_MS;
