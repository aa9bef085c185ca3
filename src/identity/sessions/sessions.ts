import { soughtUserId } from '../../schema/identity-text.ts';
import { Invalid, NotFound } from '../../schema/outcome.ts';
import { ADMIN_NAME, demand, may, nameOf, type Principal } from '../../schema/principal.ts';
import type { Session } from '../../schema/session.ts';
import type { SessionRow } from '../../store/index.ts';
import type { By, Change } from '../changes.ts';
import { demandNotAbove, scopeFor } from '../users/rights.ts';
import { endOf } from './present-session.ts';
import {
  addSession,
  type Browser,
  removeSession,
  replaceSession,
  type SessionsDeps,
  type StartedSession,
  sessionOf,
  sessionOfAccount,
} from './session-writes.ts';

/**
 * Sessions of browsers, and the rights to list and end them (identity.md 2.5).
 *
 * Guarantees: the session token is returned once and not stored. A user has at most 100 sessions; another one ends the
 * session that was unused for longest.
 */
export type Sessions = {
  /** Returns the sessions of the caller, newest first, or with `manage` those of another user. @throws Forbidden */
  list(principal: Principal, of: { user?: string | undefined; of_scope?: string | undefined }): Session[];
  /** Creates a session of the credential of the request. @throws Invalid, Forbidden */
  start(by: By, browser: Browser): Promise<StartedSession>;
  /** Creates a session of an account that has signed in. */
  startOfAccount(by: By, browser: Browser): Promise<StartedSession>;
  /** @throws NotFound for an unknown id, and for a session that the principal does not see; Forbidden */
  end(by: By, id: string): Promise<void>;
  /** Ends the session of the request. @throws Invalid if it has none */
  signOut(by: By): Promise<void>;
  /** Returns the number of sessions that have not expired. */
  count(): number;
};

export const createSessions = (deps: SessionsDeps): Sessions => {
  const { store, changes, clock } = deps;
  const { sessions, users } = store;

  /** @throws NotFound, Forbidden */
  const controlled = (principal: Principal, id: string): SessionRow => {
    const row = sessions.get(id);
    if (!row || !seesSession(principal, row)) throw new NotFound(`session not found: ${id}`);
    const user = users.get(row.scope, row.user);
    if (user && !isOwner(principal, row)) demandNotAbove(principal, user);
    return row;
  };

  return {
    list: (principal, of) => {
      const { scope, user } = listedUser(principal, of);
      return sessions
        .ofUser(scope, user)
        .toReversed()
        .flatMap((row) => viewSession(deps, principal, row) ?? []);
    },
    start: (by, browser) =>
      changes.write(by, (change) => {
        const own = ownSession(deps, by.principal);
        return own
          ? replaceSession(deps, change, own, browser)
          : addSession(deps, change, sessionOf(deps, by.principal), browser);
      }),
    startOfAccount: (by, browser) =>
      changes.write(by, (change) => addSession(deps, change, sessionOfAccount(deps, by.principal), browser)),
    end: (by, id) =>
      changes.write(by, (change) => removeSession(store, change, controlled(by.principal, id))),
    signOut: (by) => changes.write(by, (change) => signedOut(deps, by.principal, change)),
    count: () => sessions.count(clock.now()),
  };
};

/** Returns the session that the request is made with. */
const ownSession = (
  { store: { sessions } }: SessionsDeps,
  { credential }: Principal,
): SessionRow | undefined => (credential.kind === 'session' ? sessions.get(credential.id ?? '') : undefined);

const signedOut = (deps: SessionsDeps, principal: Principal, change: Change): void => {
  if (principal.credential.kind !== 'session') {
    throw new Invalid('the request has no session: its credential is not a session');
  }
  // Another request may have ended it.
  const row = ownSession(deps, principal);
  if (row) removeSession(deps.store, change, row);
};

const viewSession = (
  deps: SessionsDeps,
  { credential: { kind, id } }: Principal,
  row: SessionRow,
): Session | undefined => {
  const found = deps.judge.look(row);
  if (!found) return undefined;
  const { digest: _, source, ...shown } = row;
  return {
    ...shown,
    source: source.kind,
    current: kind === 'session' && id === row.id,
    last_used_at: found.used.at,
    last_used_ip: found.used.ip,
    expires_at: endOf(deps, row),
  };
};

/** @throws Forbidden */
const listedUser = (
  principal: Principal,
  { user, of_scope }: { user?: string | undefined; of_scope?: string | undefined },
): { scope: string; user: string } => {
  const of = {
    scope: scopeFor(principal, of_scope),
    user: user === undefined ? nameOf(principal) : soughtUserId(user),
  };
  if (!isOwner(principal, of)) demand(principal, ['manage']);
  if (of.user === ADMIN_NAME) demand(principal, ['admin']);
  return of;
};

const isOwner = (principal: Principal, { scope, user }: Pick<SessionRow, 'scope' | 'user'>): boolean =>
  scope === principal.scope && user === nameOf(principal);

const seesSession = (principal: Principal, row: SessionRow): boolean =>
  may(principal, ['admin']) ||
  (row.user !== ADMIN_NAME &&
    (isOwner(principal, row) || (row.scope === principal.scope && may(principal, ['manage']))));
