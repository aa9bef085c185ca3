import type { Test } from 'tap';
import { type By, createIdentity, type Identity, type IdentityDeps } from '../../src/identity/index.ts';
import type { OwnedThreads } from '../../src/identity/users/users.ts';
import type { AuditDraft, Caller } from '../../src/schema/audit-event.ts';
import { parseGrants } from '../../src/schema/grants.ts';
import { adminIn, type Principal } from '../../src/schema/principal.ts';
import type { Store } from '../../src/store/index.ts';
import { storeFor } from '../store/open.ts';

/** An identity service over a real store, with a clock that the test sets. */
export type Opened = Identity & {
  /** The dependencies of the service. */
  deps: IdentityDeps;
  store: Store;
  clock: { now(): number; ms: number };
  /** The audit events, without ids and times. */
  audited: (AuditDraft & { user?: string | undefined })[];
  /** `<scope>/<user>` of users who own threads. */
  owners: Set<string>;
};

type Settings = {
  key_max_days: number;
  sso_key_idle_days: number;
  max_users: number;
  session_idle_secs: number;
  session_max_secs: number;
  issuers: { issuer: string }[];
};

const SETTINGS: Settings = {
  key_max_days: 0,
  sso_key_idle_days: 30,
  max_users: 1000,
  session_idle_secs: 43_200,
  session_max_secs: 604_800,
  issuers: [{ issuer: 'https://idp.example' }],
};

export const TOKEN = 'the-admin-token';

export const START = Date.UTC(2026, 0, 1);

export const openIdentity = async (t: Test, settings: Partial<Settings> = {}): Promise<Opened> => {
  const store = await storeFor(t);
  const clock = { ms: START, now: () => clock.ms };
  const audited: Opened['audited'] = [];
  const owners = new Set<string>();
  const threads: OwnedThreads = {
    any: (scope, user) => owners.has(`${scope}/${user}`),
    async remove(scope, user) {
      owners.delete(`${scope}/${user}`);
    },
  };
  let count = 0;
  const deps: IdentityDeps = {
    store,
    clock,
    ids: { uuid: () => `01900000-0000-7000-8000-${String(++count).padStart(12, '0')}` },
    audit: {
      put(_batch, drafts, { user }: Caller) {
        for (const draft of drafts) audited.push({ ...draft, user });
        return [];
      },
      written() {},
    },
    threads,
    settings: { ...SETTINGS, ...settings },
    adminToken: TOKEN,
    failed(err) {
      throw err;
    },
  };
  return { ...createIdentity(deps), deps, store, clock, audited, owners };
};

export const by = (principal: Principal): By => ({
  principal,
  caller: { actor: 'a', request_id: null, user: principal.user ?? '~admin', scope: principal.scope },
});

export const ADMIN = by(adminIn('acme'));

/** The request of a user with these grants. */
export const userWith = (user: string, grants: string[], scope = 'acme'): By =>
  by({ scope, user, authority: [parseGrants(grants)], credential: { kind: 'jwt' } });

export const IP = (): string => '192.0.2.1';
