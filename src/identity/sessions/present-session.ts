import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Authority, parseTokenGrants } from '../../schema/grants.ts';
import { Unauthorized } from '../../schema/outcome.ts';
import { adminIn, type Basis, type Credential, type Principal } from '../../schema/principal.ts';
import type { SessionRow, Store, UserRow } from '../../store/index.ts';
import type { Changes } from '../changes.ts';
import { presentKey } from '../credentials/judge.ts';
import { grantsOf } from '../users/rights.ts';

/**
 * The principal of a session (identity.md 2.5): it has the rights of the credential that the session was created from,
 * and ends with it.
 */
export type SessionDeps = {
  store: Pick<Store, 'users' | 'keys' | 'credentials' | 'sessions' | 'batch' | 'commit'>;
  changes: Changes;
  ssoKeyIdleDays: number;
  /** Absent: sessions of an admin token have ended. */
  adminToken: string | undefined;
  /** The issuers that the settings name. */
  issuers: ReadonlySet<string>;
  /** Milliseconds without a request after which a session ends. */
  idleMs: number;
  /** The longest life of a session in milliseconds. */
  maxMs: number;
};

/** The last use of a session, in memory; it is written at most once a minute. */
export type SessionUsed = { at: number };

type Rights = Pick<Principal, 'user' | 'authority'> & { expires_at: number; line?: string };

/**
 * Returns the principal of a session with its present rights, without regard to its expiry.
 *
 * @param used is read each time that the expiry matters, because each request moves the end of an idle session
 * @throws Unauthorized
 */
export const presentSession = (deps: SessionDeps, row: SessionRow, used: SessionUsed): Principal => {
  const { user, authority, expires_at, line } = rightsOf(deps, row);
  const credential: Credential = { kind: 'session', id: row.id, ...(line !== undefined && { line }) };
  const latest = Math.min(expires_at, endOf(deps, row));
  const basis: Basis = {
    users: [],
    revision: deps.changes.revision,
    get expires_at() {
      return Math.min(latest, used.at + deps.idleMs);
    },
    again() {
      const present = deps.store.sessions.get(row.id);
      if (!present) throw sessionHasEnded();
      return presentSession(deps, present, used);
    },
  };
  return { scope: row.scope, user, authority, credential, basis };
};

/** Returns the latest end of a session. The setting may have been reduced since it was created. */
export const endOf = (
  { maxMs }: Pick<SessionDeps, 'maxMs'>,
  { created_at, expires_at }: Pick<SessionRow, 'created_at' | 'expires_at'>,
): number => Math.min(expires_at, created_at + maxMs);

export const sessionHasEnded = (): Unauthorized =>
  new Unauthorized('session has ended', { reason: 'expired' });

/** @throws Unauthorized */
const rightsOf = (deps: SessionDeps, row: SessionRow): Rights => {
  const { source } = row;
  if (source.kind === 'admin') {
    if (deps.adminToken === undefined) throw sessionHasEnded();
    return { ...NEVER, user: undefined, authority: adminIn(row.scope).authority };
  }
  if (source.kind === 'key') return rightsOfKey(deps, source.id);
  return { ...NEVER, ...rightsOfAccount(deps, row, source) };
};

/** The credential has no end that is known before. */
const NEVER = { expires_at: Number.POSITIVE_INFINITY };

const rightsOfKey = (deps: SessionDeps, id: string): Rights => {
  try {
    const { user, authority, credential, basis } = presentKey(deps, id);
    return {
      user,
      authority,
      expires_at: basis?.expires_at ?? Number.POSITIVE_INFINITY,
      line: credential.line ?? id,
    };
  } catch (error) {
    if (error instanceof Unauthorized && error.reason !== 'disabled') throw sessionHasEnded();
    throw error;
  }
};

/** An issuer that the operator removed from the settings vouches for no account. */
const rightsOfAccount = (
  { store, issuers }: SessionDeps,
  { scope, user: id, created_at }: SessionRow,
  { identity, limits }: { identity: { issuer: string; subject: string }; limits: string[][] },
): Pick<Rights, 'user' | 'authority'> => {
  const user = store.users.get(scope, id);
  if (!user || !isOfAccount(user, identity) || !issuers.has(identity.issuer)) throw sessionHasEnded();
  if (user.disabled) throw new Unauthorized(`user '${id}' is disabled`, { reason: 'disabled' });
  if (created_at < user.tokens_not_before) throw sessionHasEnded();
  const authority: Authority = [grantsOf(user), ...limits.map(parseTokenGrants)];
  return { user: id, authority };
};

const isOfAccount = ({ identity }: UserRow, of: { issuer: string; subject: string }): boolean =>
  typeof identity === 'object' && identity.issuer === of.issuer && identity.subject === of.subject;

/**
 * Binds a session to the admin token of its time. The session token, which is not stored, is the key, so that a stolen
 * folder does not help to guess a short admin token.
 */
export const adminProof = (sessionToken: string, adminToken: string): string =>
  createHmac('sha256', sessionToken).update(adminToken).digest('base64url');

/** @throws Unauthorized if the admin token of the session is another one */
export const checkAdminProof = (
  { adminToken }: Pick<SessionDeps, 'adminToken'>,
  { source }: Pick<SessionRow, 'source'>,
  sessionToken: string,
): void => {
  if (source.kind !== 'admin') return;
  const expected = Buffer.from(adminToken === undefined ? '' : adminProof(sessionToken, adminToken));
  const stored = Buffer.from(source.proof);
  if (expected.length !== stored.length || !timingSafeEqual(expected, stored)) throw sessionHasEnded();
};
