import type { Clock, Ids } from '../schema/clock.ts';
import type { Store } from '../store/index.ts';
import { type AuditPort, type Changes, createChanges } from './changes.ts';
import { createJudge, type Judge } from './credentials/judge.ts';
import { type Randomness, secureRandomness } from './credentials/key-format.ts';
import { createKeys, type Keys } from './credentials/keys.ts';
import { createMakers, type Makers } from './makers.ts';
import { createReaders, type Readers } from './readers.ts';
import { type ActFor, createActFor } from './service-user.ts';
import { createSessionJudge, type SessionJudge } from './sessions/judge-session.ts';
import { createSessions, type Sessions } from './sessions/sessions.ts';
import { createTickets, type Tickets } from './tickets.ts';
import { type Bind, createBind } from './users/bind.ts';
import { type ConnectedAccounts, createUsers, type OwnedThreads, type Users } from './users/users.ts';

/** Users, keys, and the principals of requests (identity.md). */
export type Identity = {
  readonly users: Users;
  readonly keys: Keys;
  readonly judge: Judge;
  readonly sessions: Sessions;
  readonly judgeSession: SessionJudge['judge'];
  readonly tickets: Tickets;
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
  settings: {
    key_max_days: number;
    sso_key_idle_days: number;
    max_users: number;
    session_idle_secs: number;
    session_max_secs: number;
    issuers: readonly { issuer: string }[];
  };
  adminToken: string | undefined;
  random?: Randomness;
  /** Called when the last use of a key or a session cannot be written. */
  failed(err: unknown): void;
};

export const createIdentity = (deps: IdentityDeps): Identity => {
  const { store, clock, ids, audit, threads, accounts, settings, random = secureRandomness, failed } = deps;
  const { key_max_days: maxDays, sso_key_idle_days: ssoKeyIdleDays, max_users: maxUsers } = settings;
  const changes = createChanges(store, audit);
  const ofSessions = {
    store,
    clock,
    changes,
    ssoKeyIdleDays,
    adminToken: deps.adminToken,
    issuers: new Set(settings.issuers.map(({ issuer }) => issuer)),
    idleMs: settings.session_idle_secs * 1000,
    maxMs: settings.session_max_secs * 1000,
  };
  const sessionJudge = createSessionJudge({ ...ofSessions, failed });
  return {
    users: createUsers({ store, clock, changes, threads, accounts }),
    keys: createKeys({ store, clock, ids, random, changes, threads, maxDays }),
    judge: createJudge({ store, clock, changes, ssoKeyIdleDays, failed }),
    sessions: createSessions({ ...ofSessions, ids, random, judge: sessionJudge }),
    judgeSession: sessionJudge.judge,
    tickets: createTickets({ clock, random }),
    bind: createBind({ store, clock, changes, threads, maxUsers }),
    actFor: createActFor({ store, clock, changes, threads, maxUsers }),
    readers: createReaders({ changes, clock }),
    makers: createMakers(store),
    changes,
  };
};

export type { By } from './changes.ts';
export type { Browser, StartedSession } from './sessions/session-writes.ts';
