import type { ApiKey, CreatedKey, KeyChange, NewKey } from '../../schema/api-key.ts';
import type { Accept } from '../../schema/idempotency.ts';
import { soughtUserId } from '../../schema/identity-text.ts';
import { NotFound } from '../../schema/outcome.ts';
import { demand, may, nameOf, type Principal } from '../../schema/principal.ts';
import type { KeyRow } from '../../store/index.ts';
import type { By, Change } from '../changes.ts';
import { demandGivable, scopeFor } from '../users/rights.ts';
import {
  BY_ACT,
  demandControl,
  demandCovering,
  demandMaking,
  isSelf,
  limitsFor,
  seesKey,
} from './key-rights.ts';
import {
  addKey,
  auditedKey,
  demandActive,
  type KeysDeps,
  narrowed,
  narrowingOf,
  putKey,
  userFor,
  viewKey,
} from './key-writes.ts';
import { checkedHeader, checkedKeyName, expiryOf } from './new-key.ts';

/**
 * API keys of a scope, and the rights to read and change them (identity.md 2.1).
 *
 * Guarantees: the key itself is returned once and not stored; a key never allows more than its user and the caller who
 * created it may do; an ended key stays listed for 90 days.
 */
export type Keys = {
  /** @throws NotFound for an unknown id, and for a key that the principal does not see */
  get(principal: Principal, id: string): ApiKey;
  /** Returns whose keys the principal may list. @throws Forbidden */
  listed(
    principal: Principal,
    query: { user?: string | undefined; of_scope?: string | undefined },
  ): {
    scope: string;
    user: string | undefined;
  };
  view(row: KeyRow): ApiKey;
  /** @throws Invalid, Forbidden, NotFound, RateLimited */
  create(by: By, key: NewKey, keyed?: Accept<CreatedKey>): Promise<CreatedKey>;
  /** Narrows a key, shortens its life or renames it. @throws Invalid, Forbidden, NotFound */
  update(by: By, id: string, change: KeyChange): Promise<ApiKey>;
  /** Replaces a key; the previous one works until the grace period ends. */
  rotate(by: By, id: string, grace_secs: number, keyed?: Accept<CreatedKey>): Promise<CreatedKey>;
  /** Returns the scope and the line of the key, which may have ended before. @throws NotFound, Forbidden */
  revoke(by: By, id: string): Promise<Pick<KeyRow, 'scope' | 'line'>>;
};

export const createKeys = (deps: KeysDeps): Keys => {
  const { store, clock, changes } = deps;
  const { users, keys } = store;

  /** @throws NotFound */
  const visible = (principal: Principal, id: string): KeyRow => {
    const row = keys.get(id);
    if (!row || !seesKey(principal, row)) throw new NotFound(`key not found: ${id}`);
    return row;
  };

  /** @throws NotFound, Forbidden */
  const controlled = (principal: Principal, id: string): KeyRow => {
    const row = visible(principal, id);
    demandControl(principal, row, users.get(row.scope, row.user));
    return row;
  };

  return {
    view: (row) => viewKey(deps, row),
    get: (principal, id) => viewKey(deps, visible(principal, id)),
    listed: listedKeys,
    create: (by, given, keyed) =>
      changes.write(by, (change) => created(deps, by.principal, given, change), keyed),
    update: (by, id, given) =>
      changes.write(by, (change) => {
        const before = controlled(by.principal, id);
        demandActive(before, clock.now());
        return putKey(deps, change, narrowed(before, given, clock.now()), before);
      }),
    rotate: (by, id, grace_secs, keyed) =>
      changes.write(
        by,
        (change) => rotated(deps, by.principal, visible(by.principal, id), { grace_secs, change }),
        keyed,
      ),
    revoke: (by, id) =>
      changes.write(by, (change) => {
        const row = controlled(by.principal, id);
        if (row.revoked_at !== null) return row;
        keys.put(change.batch, { ...row, revoked_at: clock.now() });
        change.audit({ action: 'delete', resource: `keys/${id}`, before: auditedKey(row) });
        change.affects({ scope: row.scope, user: row.user, key: id });
        return row;
      }),
  };
};

const listedKeys: Keys['listed'] = (principal, { user, of_scope }) => {
  const scope = scopeFor(principal, of_scope);
  const name = user === undefined ? undefined : soughtUserId(user);
  if (may(principal, ['manage'])) return { scope, user: name };
  if (name !== undefined && !isSelf(principal, { scope, user: name })) demand(principal, ['manage']);
  // A caller without a user has no keys.
  if (principal.user === undefined) demand(principal, ['keys']);
  return { scope, user: principal.user };
};

const created = (deps: KeysDeps, principal: Principal, given: NewKey, change: Change): CreatedKey => {
  const { user, isNew } = userFor(deps, principal, given, change);
  const mostSecs = demandMaking(principal, user, isNew);
  const limits = limitsFor(principal, user, {
    isGiven: given.grants !== undefined,
    isByAct: mostSecs !== undefined,
  });
  const now = deps.clock.now();
  if (given.grants) demandGivable(principal, given.grants);
  if (given.user_header !== undefined) demand(principal, ['act']);
  return addKey(deps, change, {
    name: checkedKeyName(given.name),
    scope: user.scope,
    user: user.id,
    ...narrowingOf(given.grants, limits),
    ...(given.user_header !== undefined && { user_header: checkedHeader(given.user_header) }),
    created_at: now,
    created_by: nameOf(principal),
    expires_at: expiryOf(given.expires_in_secs, { now, maxDays: deps.maxDays, mostSecs }),
    revoked_at: null,
    first: isNew && user.kind === 'person',
  });
};

const rotated = (
  deps: KeysDeps,
  principal: Principal,
  before: KeyRow,
  { grace_secs, change }: { grace_secs: number; change: Change },
): CreatedKey => {
  const now = deps.clock.now();
  demandActive(before, now);
  const user = deps.store.users.get(before.scope, before.user);
  if (!user) throw new NotFound(`user not found: ${before.user}`);
  const mostSecs = demandMaking(principal, user, false);
  demandCovering(principal, before, user);
  const end = now + grace_secs * 1000;
  const ended: KeyRow =
    grace_secs === 0
      ? { ...before, revoked_at: now }
      : { ...before, expires_at: Math.min(end, before.expires_at ?? end) };
  const { id: _, digest: __, hint: ___, actor: ____, line, ...same } = before;
  const secs = withinMaximum(lifeOf(before), deps.maxDays);
  const next = addKey(
    deps,
    change,
    {
      ...same,
      ...(mostSecs !== undefined && { limits: [...(before.limits ?? []), BY_ACT] }),
      created_at: now,
      created_by: nameOf(principal),
      expires_at: expiryOf(secs, { now, maxDays: 0, mostSecs }),
      first: before.first && isSelf(principal, before),
    },
    line,
  );
  putKey(deps, change, ended, before);
  return next;
};

const lifeOf = ({ created_at, expires_at }: KeyRow): number | null =>
  expires_at === null ? null : Math.max(1, Math.round((expires_at - created_at) / 1000));

const withinMaximum = (secs: number | null, maxDays: number): number | null => {
  if (maxDays === 0) return secs;
  return Math.min(secs ?? Number.POSITIVE_INFINITY, maxDays * 86_400);
};
