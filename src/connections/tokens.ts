import type { AuthorizationServer } from 'oauth4webapi';
import { type Account, type ActingAccount, SERVICE_ACCOUNT } from '../schema/account.ts';
import { createLock, type Lock } from '../schema/lock.ts';
import { parseChallenge } from './challenge.ts';
import { checkBound, type Discovered, type OAuthEntry } from './discovery.ts';
import type { Reach } from './reach.ts';
import type { RefreshResult } from './refresh.ts';
import type { Renewed } from './renewed.ts';
import type { Connection, ConnectionRows } from './rows.ts';
import type { ConnectionToken, TokenRefusal } from './types.ts';

/**
 * Tokens for requests (identity.md 6.3).
 *
 * Guarantees: writes of a connection, refreshes included, are executed one at a time. Concurrent callers that find an
 * outdated token wait for the same refresh.
 */
export type TokenDeps = {
  rows: ConnectionRows;
  renewed: Renewed;
  now: () => number;
  reachOf(entry: OAuthEntry): Reach;
  discover(entry: OAuthEntry): Promise<Discovered>;
  serverOf(entry: OAuthEntry, issuer: string): Promise<AuthorizationServer>;
  refreshed(server: string, result: RefreshResult): void;
  /** Returns why a run cannot use the connections of its account. */
  refusalOf(account: ActingAccount, server: string): string | undefined;
  ended(account: Account, server: string): void;
};

export type TokenService = {
  token(account: ActingAccount, entry: OAuthEntry, refusal?: TokenRefusal): Promise<ConnectionToken>;
  /** Executes a write of the connection while no refresh changes it. */
  exclusive: <Result>(account: Account, server: string, work: () => Promise<Result>) => Promise<Result>;
};

/** A token with less time is refreshed before it is used. */
const LEAST_MS = 60_000;

type State = TokenDeps & { locks: Map<string, { lock: Lock; users: number }> };

export const createTokenService = (deps: TokenDeps): TokenService => {
  const state: State = { ...deps, locks: new Map() };
  return {
    token: (...asked) => tokenFor(state, ...asked),
    exclusive: (account, server, work) => exclusive(state, keyOf(account, server), work),
  };
};

const keyOf = ({ scope, user }: Account, server: string): string =>
  JSON.stringify([scope, user ?? null, server]);

const exclusive = async <Result>(
  { locks }: State,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const held = locks.get(key) ?? { lock: createLock(), users: 0 };
  locks.set(key, held);
  held.users += 1;
  try {
    return await held.lock(work);
  } finally {
    held.users -= 1;
    if (held.users === 0) locks.delete(key);
  }
};

const tokenFor = async (
  state: State,
  account: ActingAccount,
  entry: OAuthEntry,
  refusal?: TokenRefusal,
): Promise<ConnectionToken> => {
  const server = entry.id;
  const isOfService = entry.auth.flow === 'client_credentials';
  const message = isOfService ? undefined : state.refusalOf(account, server);
  if (message !== undefined) return { type: 'refused', message };
  const owner = isOfService ? SERVICE_ACCOUNT : account;
  const found = state.rows.get(owner, entry);
  if (found && refusal?.status === 403) return stepUp(state, entry, found, refusal);
  const usable = found && usableToken(state, found, refusal);
  if (usable !== undefined) return { type: 'token', token: usable };
  const connection = await exclusive(state, keyOf(owner, server), () => renew(state, entry, owner, refusal));
  if (connection?.access_token !== undefined) return { type: 'token', token: connection.access_token };
  return { type: connection ? 'expired' : 'none', scopes: (await state.discover(entry)).scopes };
};

const usableToken = (
  { now }: State,
  { state, access_token, expires_at = Number.POSITIVE_INFINITY }: Connection,
  refusal: TokenRefusal | undefined,
): string | undefined => {
  if (state === 'expired' || access_token === undefined || access_token === refusal?.token) return undefined;
  return expires_at - now() >= LEAST_MS ? access_token : undefined;
};

/** Reads the connection again, because another call may have refreshed it. */
const renew = async (
  state: State,
  entry: OAuthEntry,
  owner: Account,
  refusal: TokenRefusal | undefined,
): Promise<Connection | undefined> => {
  const found = state.rows.get(owner, entry);
  if (found && usableToken(state, found, refusal) !== undefined) return found;
  const renewal = {
    entry,
    reach: state.reachOf(entry),
    rows: state.rows,
    renewed: state.renewed,
    now: state.now,
    observe: (result: RefreshResult) => state.refreshed(entry.id, result),
    serverOf: (issuer: string) => state.serverOf(entry, issuer),
  };
  if (entry.auth.flow === 'client_credentials')
    return (await import('./refresh.ts')).requestServiceToken(renewal, owner, await state.discover(entry));
  if (!found || found.state === 'expired') return found;
  if (isLastToken(state, found, refusal)) return found;
  const { refreshConnection } = await import('./refresh.ts');
  const after = await refreshConnection(renewal, found).catch((error) => {
    // Until its end, the old token serves during an outage of the authorization server.
    if (isValid(state, found, refusal)) return found;
    throw error;
  });
  if (after.state === 'expired') state.ended(owner, entry.id);
  return after;
};

/** Without a refresh token, the access token serves until its end. */
const isLastToken = (state: State, found: Connection, refusal: TokenRefusal | undefined): boolean =>
  found.refresh_token === undefined && isValid(state, found, refusal);

const isValid = (
  { now }: State,
  { access_token, expires_at = Number.POSITIVE_INFINITY }: Connection,
  refusal: TokenRefusal | undefined,
): boolean => access_token !== undefined && access_token !== refusal?.token && expires_at > now();

/** The server asks for more scopes than the token has. @throws ConnectionFailure beyond the entry */
const stepUp = async (
  { discover }: State,
  entry: OAuthEntry,
  found: Connection,
  { challenge }: TokenRefusal,
): Promise<ConnectionToken> => {
  const { error, scopes = [] } = parseChallenge(challenge);
  checkBound(entry, scopes);
  const isMore = scopes.some((scope) => !found.scopes.includes(scope));
  if (error !== 'insufficient_scope' || !isMore || entry.auth.flow === 'client_credentials')
    return { type: 'refused', message: `server '${entry.id}' does not accept the token for this call` };
  const { scopes: first } = await discover(entry);
  return { type: 'none', scopes: [...new Set([...first, ...found.scopes, ...scopes])] };
};
