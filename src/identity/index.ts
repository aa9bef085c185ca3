import type { Clock, Ids } from '../schema/clock.ts';
import type { Store } from '../store/index.ts';
import { type AuditPort, type Changes, createChanges } from './changes.ts';
import { createJudge, type Judge } from './credentials/judge.ts';
import { type Randomness, secureRandomness } from './credentials/key-format.ts';
import { createKeys, type Keys } from './credentials/keys.ts';
import { createMakers, type Makers } from './makers.ts';
import { createReaders, type Readers } from './readers.ts';
import { type ActFor, createActFor } from './service-user.ts';
import { type Bind, createBind } from './users/bind.ts';
import { type ConnectedAccounts, createUsers, type OwnedThreads, type Users } from './users/users.ts';

/** Users, keys, and the principals of requests (identity.md). */
export type Identity = {
  readonly users: Users;
  readonly keys: Keys;
  readonly judge: Judge;
  readonly bind: Bind;
  readonly actFor: ActFor;
  /** The event streams and sessions that end with the rights of their principals. */
  readonly readers: Readers;
  /** Judges what outlives its request. */
  readonly makers: Makers;
  readonly changes: Pick<Changes, 'revision' | 'onChange'>;
};

export type IdentityDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  audit: AuditPort;
  threads: OwnedThreads;
  accounts?: ConnectedAccounts | undefined;
  settings: { key_max_days: number; sso_key_idle_days: number; max_users: number };
  random?: Randomness;
  /** Called when the last use of a key cannot be written. */
  failed(err: unknown): void;
};

export const createIdentity = (deps: IdentityDeps): Identity => {
  const { store, clock, ids, audit, threads, accounts, settings, random = secureRandomness, failed } = deps;
  const { key_max_days: maxDays, sso_key_idle_days: ssoKeyIdleDays, max_users: maxUsers } = settings;
  const changes = createChanges(store, audit);
  return {
    users: createUsers({ store, clock, changes, threads, accounts }),
    keys: createKeys({ store, clock, ids, random, changes, threads, maxDays }),
    judge: createJudge({ store, clock, changes, ssoKeyIdleDays, failed }),
    bind: createBind({ store, clock, changes, threads, maxUsers }),
    actFor: createActFor({ store, clock, changes, threads, maxUsers }),
    readers: createReaders({ changes, clock }),
    makers: createMakers(store),
    changes,
  };
};

export type { By } from './changes.ts';
