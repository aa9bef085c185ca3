import type { AuthorizationServer } from 'oauth4webapi';
import type { Resolve } from '../outbound/public-address.ts';
import type { Account, ActingAccount } from '../schema/account.ts';
import type { Clock } from '../schema/clock.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import type { Store } from '../store/index.ts';
import type { ConnectionHead } from '../store/tables/connections.ts';
import type { Registrations } from './code-flow.ts';
import { type Discovered, discoverIssuer, discoverServer, type OAuthEntry } from './discovery.ts';
import { ConnectionFailure, OAuthRefusal } from './failure.ts';
import type { Reach } from './reach.ts';
import type { RefreshResult } from './refresh.ts';
import { createRenewed, type Renewed } from './renewed.ts';
import { connectionOf, createConnectionRows, isOfEntry } from './rows.ts';
import { createTokenService, type TokenService } from './tokens.ts';
import type { Connections, GrantedTokens, ListedConnection } from './types.ts';

/**
 * Connections of users to MCP servers, and tokens of the service for them (identity.md 6).
 *
 * Guarantees: tokens leave this module only for the requests to the server that they were granted for.
 * Cost: none without entries that have `auth`; the OAuth library is loaded with the first use.
 */
export type ConnectionsDeps = {
  store: Pick<Store, 'connections' | 'batch' | 'commit'>;
  clock: Clock;
  log: Pick<ServiceLog, 'warn' | 'error'>;
  resolve: Resolve;
  refreshed(server: string, result: RefreshResult): void;
  /** Returns why a run cannot use the connections of its account. */
  refusalOf(account: ActingAccount, server: string): string | undefined;
};

type Listener = (account: Account, server: string) => void;

type State = {
  readonly deps: ConnectionsDeps;
  readonly rows: ReturnType<typeof createConnectionRows>;
  readonly renewed: Renewed;
  readonly tokens: TokenService;
  readonly registrations: Registrations;
  readonly connected: Set<Listener>;
  readonly ended: Set<Listener>;
  readonly found: Map<string, { at: number; work: Promise<Discovered> }>;
  readonly issuers: Map<string, { at: number; work: Promise<AuthorizationServer> }>;
  entries: ReadonlyMap<string, OAuthEntry>;
  pending: Promise<unknown>;
};

export const createConnections = (deps: ConnectionsDeps): Connections => {
  const state = createState(deps);
  return {
    async discover(server) {
      const entry = userEntry(state, server);
      const { issuer, resource, scopes } = await discover(state, entry);
      return { issuer, resource, scopes, confirm_scopes: entry.auth.scopes === undefined };
    },
    async begin(request) {
      const entry = userEntry(state, request.server);
      const at = { entry, found: await discover(state, entry), reach: reachOf(state, entry) };
      const { beginAuthorization } = await import('./code-flow.ts');
      return beginAuthorization(at, request, state.registrations);
    },
    async exchange(attempt, callback) {
      const entry = userEntry(state, attempt.server);
      if (!isOfEntry(attempt, entry))
        throw new ConnectionFailure('refused', `the entry of server '${entry.id}' has changed`);
      const at = { found: await discover(state, entry), reach: reachOf(state, entry), now: deps.clock.now };
      const { forgetClient, redeemCode } = await import('./code-flow.ts');
      return redeemCode(at, attempt, callback).catch((error) => {
        if (error instanceof OAuthRefusal && error.error === 'invalid_client')
          forgetClient(state.registrations, attempt.client);
        throw error;
      });
    },
    async store(account, server, tokens) {
      const entry = userEntry(state, server);
      if (tokens.server !== server || !isOfEntry(tokens, entry))
        throw new ConnectionFailure('refused', `the entry of server '${server}' has changed`);
      await state.tokens.exclusive(account, server, () =>
        state.rows.put(connectionOf(account, tokens, deps.clock.now())),
      );
      for (const listener of state.connected) listener(account, server);
    },
    discard: (tokens) => revokeTokens(state, tokens),
    list: (account) => list(state, account),
    revoke: (account, server) => revoke(state, account, server),
    async removeAll(account) {
      for (const head of deps.store.connections.heads(account)) await remove(state, head);
    },
    async token(account, spec, refusal) {
      const entry = entryOf(spec);
      if (entry) return state.tokens.token(account, entry, refusal);
      return { type: 'refused', message: `server '${spec.id}' has no auth` };
    },
    onConnected: (listener) => subscribe(state.connected, listener),
    onEnded: (listener) => subscribe(state.ended, listener),
    apply: (specs) => apply(state, specs),
    retain(servers) {
      removeWhere(state, ({ server }) => !servers.has(server));
    },
    async close() {
      await state.pending;
      await state.renewed.flush();
    },
  };
};

const createState = (deps: ConnectionsDeps): State => {
  const rows = createConnectionRows(deps);
  const renewed = createRenewed(rows, deps.log);
  const state: State = {
    deps,
    rows,
    renewed,
    tokens: createTokenService({
      rows,
      renewed,
      now: deps.clock.now,
      reachOf: (entry) => reachOf(state, entry),
      discover: (entry) => discover(state, entry),
      serverOf: (entry, issuer) => serverOf(state, entry, issuer),
      refreshed: deps.refreshed,
      refusalOf: deps.refusalOf,
      ended: (account, server) => notifyEnded(state, account, server),
    }),
    registrations: new Map(),
    connected: new Set(),
    ended: new Set(),
    found: new Map(),
    issuers: new Map(),
    entries: new Map(),
    pending: Promise.resolve(),
  };
  return state;
};

const subscribe = (listeners: Set<Listener>, listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

const notifyEnded = ({ ended }: State, account: Account, server: string): void => {
  for (const listener of ended) listener(account, server);
};

const userEntry = ({ entries }: State, server: string): OAuthEntry => {
  const entry = entries.get(server);
  if (entry?.auth.flow === 'authorization_code') return entry;
  throw new ConnectionFailure('unknown', `server '${server}' has no connections of users`);
};

const reachOf = ({ deps }: State, { auth }: OAuthEntry): Reach => ({
  allowPrivate: auth.allow_private,
  resolve: deps.resolve,
});

/** Documents are read again after this time; a failure is not kept. */
const FRESH_MS = 60_000;

const cached = <Value>(
  { deps: { clock } }: State,
  cache: Map<string, { at: number; work: Promise<Value> }>,
  key: string,
  read: () => Promise<Value>,
): Promise<Value> => {
  const known = cache.get(key);
  if (known && clock.now() - known.at < FRESH_MS && clock.now() >= known.at) return known.work;
  const work = read();
  cache.set(key, { at: clock.now(), work });
  work.catch(() => {
    if (cache.get(key)?.work === work) cache.delete(key);
  });
  return work;
};

const discover = (state: State, entry: OAuthEntry): Promise<Discovered> => {
  const { id, url, auth } = entry;
  const { token_url, issuer } = auth;
  if (token_url !== undefined && issuer !== undefined)
    return Promise.resolve({
      issuer,
      resource: new URL(url).href,
      as: { issuer, token_endpoint: token_url },
      scopes: auth.scopes ?? [],
    });
  return cached(state, state.found, JSON.stringify([id, url, auth]), () =>
    discoverServer(entry, reachOf(state, entry)),
  );
};

const serverOf = (state: State, entry: OAuthEntry, issuer: string): Promise<AuthorizationServer> =>
  cached(state, state.issuers, JSON.stringify([issuer, entry.auth.allow_private]), () =>
    discoverIssuer(issuer, entry.auth, reachOf(state, entry)),
  );

const list = ({ deps: { store }, entries }: State, account: Account): ListedConnection[] =>
  store.connections
    .heads(account)
    .filter((head) => {
      const entry = entries.get(head.server);
      return entry !== undefined && isOfEntry(head, entry);
    })
    .map(({ server, state, scopes, issuer, connected_at, expires_at }) => ({
      ...{ server, state, scopes, issuer, connected_at },
      ...(expires_at !== undefined && { expires_at }),
    }))
    .sort((one, other) => (one.server < other.server ? -1 : 1));

/** The connection is removed first: it ends here even if the authorization server does not respond. */
const revoke = async (state: State, account: Account, server: string): Promise<boolean> => {
  const entry = state.entries.get(server);
  const head = state.deps.store.connections.heads(account).find((each) => each.server === server);
  if (!head) return false;
  const connection = await remove(state, head, () => entry && state.rows.get(account, entry));
  const { access_token } = connection ?? {};
  if (connection && access_token !== undefined)
    await revokeTokens(state, { ...tokensOf(connection), access_token });
  return true;
};

const tokensOf = ({
  refresh_token,
  ...connection
}: NonNullable<ReturnType<State['rows']['get']>>): Omit<GrantedTokens, 'access_token'> => ({
  server: connection.server,
  url: connection.url,
  issuer: connection.issuer,
  resource: connection.resource,
  scopes: connection.scopes,
  client: connection.client,
  ...(refresh_token !== undefined && { refresh_token }),
});

/** @param read returns what the removal ends, after pending refreshes */
const remove = async <Read>(
  state: State,
  head: ConnectionHead,
  read: () => Read | undefined = () => undefined,
): Promise<Read | undefined> => {
  const account = { scope: head.scope, user: head.user === '' ? undefined : head.user };
  const found = await state.tokens.exclusive(account, head.server, async () => {
    const ends = read();
    await state.rows.remove([head]);
    return ends;
  });
  notifyEnded(state, account, head.server);
  return found;
};

/** Revokes the refresh token, which ends the access tokens too (RFC 7009, section 2.1). */
const revokeTokens = async (
  state: State,
  tokens: Pick<GrantedTokens, 'server' | 'issuer' | 'client' | 'refresh_token' | 'access_token'>,
): Promise<void> => {
  const { server, issuer } = tokens;
  const entry = state.entries.get(server);
  if (!entry) return;
  try {
    const as = await serverOf(state, entry, issuer);
    if (as.revocation_endpoint === undefined) return;
    const { revokeAt } = await import('./revocation.ts');
    await revokeAt(as, tokens, reachOf(state, entry));
  } catch {
    state.deps.log.warn('connection.not_revoked', { server });
  }
};

const entryOf = ({ id, url = '', auth, transport }: McpServerSpec): OAuthEntry | undefined =>
  auth && transport === 'http' && URL.canParse(url.trim()) ? { id, url: url.trim(), auth } : undefined;

const apply = (state: State, specs: readonly McpServerSpec[]): void => {
  state.entries = new Map(
    specs.flatMap((spec) => {
      const entry = entryOf(spec);
      return entry ? [[entry.id, entry]] : [];
    }),
  );
  removeWhere(state, (head) => {
    const entry = state.entries.get(head.server);
    return entry !== undefined && !isOfEntry(head, entry);
  });
};

/** Removes in the background; until then, such connections are not used. */
const removeWhere = (state: State, isObsolete: (head: ConnectionHead) => boolean): void => {
  const heads = [...state.deps.store.connections.all()].filter(isObsolete);
  if (heads.length === 0) return;
  state.pending = Promise.all([state.pending, ...heads.map((head) => remove(state, head))]).catch((err) =>
    state.deps.log.warn('connection.not_removed', { err }),
  );
};
