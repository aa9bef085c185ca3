import type { Clock, Ids } from '../../schema/clock.ts';
import { Forbidden, Invalid } from '../../schema/outcome.ts';
import { nameOf, type Principal } from '../../schema/principal.ts';
import type { SessionSource } from '../../schema/session.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import type { Change } from '../changes.ts';
import { createCredential, digestOf, type Randomness, SESSION_PREFIX } from '../credentials/key-format.ts';
import type { SessionJudge } from './judge-session.ts';
import { adminProof, endOf, presentSession, type SessionDeps } from './present-session.ts';

/** The writes of a change of sessions (identity.md 2.5). Called under the lock of users and credentials. */

export type SessionsDeps = SessionDeps & {
  clock: Clock;
  ids: Ids;
  random: Randomness;
  judge: SessionJudge;
};

/** The browser and the address from which a session is created. */
export type Browser = { user_agent: string | undefined; ip: string };

export type StartedSession = { token: string; principal: Principal; expires_at: number };

type NewSession = Pick<SessionRow, 'scope' | 'user' | 'created_at' | 'expires_at'> & {
  source(token: string): SessionSource;
};

/** Bound of sessions of a user (identity.md 2.5). */
const MOST_SESSIONS = 100;
const MOST_AGENT_CHARACTERS = 256;
const REMOVED_AT_ONCE = 3;

export const addSession = (
  deps: SessionsDeps,
  change: Change,
  { source, ...row }: NewSession,
  { user_agent, ip }: Browser,
): StartedSession => {
  const { store, clock } = deps;
  for (const old of store.sessions.expiredBefore(clock.now(), REMOVED_AT_ONCE)) removeRow(store, change, old);
  makeRoom(deps, change, row);
  const token = createCredential(SESSION_PREFIX, deps.random);
  const full: SessionRow = {
    ...row,
    id: deps.ids.uuid(),
    digest: digestOf(token),
    source: source(token),
    user_agent: user_agent?.slice(0, MOST_AGENT_CHARACTERS) ?? null,
    ip,
  };
  store.sessions.put(change.batch, full);
  store.credentials.put(change.batch, full.digest, { kind: 'session', id: full.id });
  const principal = presentSession(deps, full, { at: clock.now() });
  return { token, principal, expires_at: endOf(deps, full) };
};

/** A new session from another one has a new id, and lasts no longer. */
export const replaceSession = (
  deps: SessionsDeps,
  change: Change,
  before: SessionRow,
  browser: Browser,
): StartedSession => {
  const { scope, user, created_at, expires_at, source } = before;
  removeSession(deps.store, change, before);
  const session = { scope, user, created_at, expires_at, source: renewedSource(deps, source) };
  return addSession(deps, change, session, browser);
};

/** The session was judged, so its admin token is the present one. */
const renewedSource =
  ({ adminToken = '' }: SessionDeps, source: SessionSource): NewSession['source'] =>
  (token) =>
    source.kind === 'admin' ? { kind: 'admin', proof: adminProof(token, adminToken) } : source;

/** The session that was unused for longest makes room for a new one. */
const makeRoom = (
  { store, judge }: SessionsDeps,
  change: Change,
  { scope, user }: Pick<SessionRow, 'scope' | 'user'>,
): void => {
  const rows = store.sessions.ofUser(scope, user);
  if (rows.length < MOST_SESSIONS) return;
  const byUse = rows
    .map((row) => ({ row, at: judge.look(row)?.used.at ?? 0 }))
    .sort((one, other) => one.at - other.at);
  for (const { row } of byUse.slice(0, rows.length - MOST_SESSIONS + 1)) removeSession(store, change, row);
};

type Rows = Pick<Store, 'sessions' | 'credentials'>;

const removeRow = ({ sessions, credentials }: Rows, { batch }: Change, row: SessionRow): void => {
  sessions.remove(batch, row);
  credentials.remove(batch, row.digest);
};

/** Ends a session: requests with it are rejected once the change is confirmed. */
export const removeSession = (store: Rows, change: Change, row: SessionRow): void => {
  removeRow(store, change, row);
  change.affects({ scope: row.scope, user: row.user });
};

/** Ends all sessions of a user. The caller reports the change of the user. */
export const removeSessionsOf = (
  store: Rows,
  change: Change,
  { scope, id }: { scope: string; id: string },
): void => {
  for (const row of store.sessions.ofUser(scope, id)) removeRow(store, change, row);
};

/**
 * Returns what a session of the credential of a request consists of.
 *
 * @throws Invalid for a credential that this service cannot judge again; Forbidden for a request for an end user
 */
export const sessionOf = (deps: SessionsDeps, principal: Principal): NewSession => {
  const { scope, user, credential, basis } = principal;
  const created_at = deps.clock.now();
  const latest = created_at + deps.maxMs;
  const expires_at = Math.min(latest, basis?.expires_at ?? latest);
  const session = { scope, user: nameOf(principal), created_at, expires_at };
  if (isForEndUser(deps, principal)) throw new Forbidden(END_USER, { code: 'forbidden' });
  if (credential.kind === 'admin' && deps.adminToken !== undefined) {
    const { adminToken } = deps;
    return { ...session, source: (token) => ({ kind: 'admin', proof: adminProof(token, adminToken) }) };
  }
  const { id } = credential;
  if (credential.kind === 'key' && id !== undefined)
    return { ...session, source: () => ({ kind: 'key', id }) };
  if (credential.kind !== 'jwt' || user === undefined) throw new Invalid(NO_SOURCE);
  const limits = principal.authority.map(({ texts }) => [...texts]);
  return { ...session, source: accountOf(deps, principal, limits) };
};

/** Returns the session of an account that has signed in; it lasts as long as the settings allow. */
export const sessionOfAccount = (deps: SessionsDeps, principal: Principal): NewSession => {
  const created_at = deps.clock.now();
  return {
    scope: principal.scope,
    user: nameOf(principal),
    created_at,
    expires_at: created_at + deps.maxMs,
    source: accountOf(deps, principal, []),
  };
};

const accountOf = (
  { store: { users } }: SessionDeps,
  { scope, user }: Principal,
  limits: string[][],
): NewSession['source'] => {
  const identity = user === undefined ? undefined : users.get(scope, user)?.identity;
  if (typeof identity !== 'object') throw new Invalid(NO_SOURCE);
  return () => ({ kind: 'account', identity, limits });
};

/** A back end keeps the sessions of its end users itself. */
const isForEndUser = (
  { store: { keys } }: SessionDeps,
  { user, credential: { kind, id = '' }, basis }: Principal,
): boolean =>
  (kind === 'admin' && user !== undefined) ||
  (kind === 'key' && keys.get(id)?.user_header !== undefined) ||
  (basis?.users ?? []).some((other) => other !== user);

const END_USER = 'a session is for the user of its credential, not for an end user that a back end names';

const NO_SOURCE =
  'a session needs the admin token, an API key, an access token or another session in the Authorization header';
