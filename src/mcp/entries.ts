import { isDeepStrictEqual } from 'node:util';
import type { AnyActorRef } from 'xstate';
import { SERVICE_ACCOUNT } from '../schema/account.ts';
import type { Clock } from '../schema/clock.ts';
import { userAuth } from '../schema/mcp-auth.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import type { McpStatus } from '../schema/mcp-status.ts';
import { mcpToolId } from '../tools/mcp-id.ts';
import { ToolError } from '../tools/tool.ts';
import { callForAccount } from './account-call.ts';
import { type AccountConnections, createAccountConnections } from './account-connections.ts';
import { createAuthorize } from './authorized.ts';
import { type CallObserver, callTool } from './call.ts';
import { type CatalogStore, readCatalog, writeCatalog } from './catalogs.ts';
import { type Connection, type ConnectionDeps, createConnection, masked } from './connection.ts';
import { emptyOffer, makeOffer, type Offer } from './offer.ts';
import { type Shared, statusOf } from './status.ts';
import type { AwaitAuthorization, TokenSource } from './token-source.ts';
import type { ToolLedger, ToolLedgerDeps } from './tool-ledger.ts';
import type { Call } from './tools.ts';

/** The entries of the configuration with their connections, and what they offer. */

export type McpManagerDeps = Omit<ConnectionDeps, 'reconnected'> & {
  clock: Clock;
  /** The returned function is called when the actor ends. */
  actors: { began(actor: AnyActorRef, scope: string): () => void };
  scope: string;
  observe: { called: CallObserver; reconnected(server: string): void };
  records: ToolLedgerDeps;
  /** Absent where no entry has `auth`. */
  authorization?: Authorization;
  /** Must not throw. */
  changed(): void;
};

/** The dependencies of entries with `auth`. */
export type Authorization = {
  tokens: TokenSource;
  wait: AwaitAuthorization;
  catalogs: CatalogStore;
  /** Time after which the unused connection of an account is closed; default: ten minutes. */
  idleMs?: number;
};

export type State = {
  readonly deps: McpManagerDeps;
  readonly ledger: ToolLedger;
  live: Map<string, Entry>;
  /** Connections of pending writes. */
  readonly candidates: Set<Entry>;
  readonly leaving: Set<Entry>;
  /**
   * Time until which changes of tools are delayed, so that a server that changes them constantly causes few
   * publications.
   */
  quietUntil: number;
  publishTimer: NodeJS.Timeout | undefined;
  closed: boolean;
};

export type Entry = {
  /** Never opened for an entry whose connections belong to accounts. */
  readonly connection: Connection;
  readonly accounts: AccountConnections | undefined;
  /** The published tools of the connection. */
  offer: Offer;
  listed: boolean;
  gone: (() => void) | undefined;
};

export const sharedIn = ({ accounts, listed }: Entry): Shared | undefined =>
  accounts && { isConnected: accounts.hasOpen(), isListed: listed };

export const statusOfEntry = (entry: Entry): McpStatus =>
  statusOf(entry.connection, entry.offer, sharedIn(entry));

export const begin = (state: State, spec: McpServerSpec): Entry => {
  const deps = { ...state.deps, reconnected: state.deps.observe.reconnected };
  if (userAuth(spec)) return beginForAccounts(state, spec, deps);
  const authorize = spec.auth && createAuthorize(tokensOf(state), SERVICE_ACCOUNT, spec);
  const connection = createConnection(spec, deps, authorize);
  const entry: Entry = {
    connection,
    accounts: undefined,
    offer: emptyOffer(connection),
    listed: false,
    gone: undefined,
  };
  connection.actor.subscribe({
    next: () => updateOffer(state, entry),
    complete: () => ended(state, entry),
    error: (err) => state.deps.log.warn('mcp.machine_failed', { err, server: spec.id }),
  });
  connection.actor.start();
  return entry;
};

const NO_TOKENS: TokenSource = {
  token: async (_, { id }) => ({ type: 'refused', message: `server '${id}' has no tokens here` }),
};

const tokensOf = ({ deps }: State): TokenSource => deps.authorization?.tokens ?? NO_TOKENS;

/** Offers the tools that were last listed with the connection of any account. */
const beginForAccounts = (state: State, spec: McpServerSpec, deps: ConnectionDeps): Entry => {
  const { authorization } = state.deps;
  const connection = createConnection(spec, deps);
  const accounts = createAccountConnections(spec, {
    ...deps,
    tokens: tokensOf(state),
    idleMs: authorization?.idleMs ?? IDLE_MS,
    listed: (listed) => takeCatalog(state, entry, listed),
  });
  const entry: Entry = {
    connection,
    accounts,
    offer: emptyOffer(connection),
    listed: false,
    gone: undefined,
  };
  const known = authorization && readCatalog(authorization.catalogs, connection);
  if (known) {
    Object.assign(connection, known);
    make(state, entry);
    entry.listed = true;
  }
  return entry;
};

const IDLE_MS = 600_000;

const takeCatalog = (state: State, entry: Entry, { definitions, unusable }: Connection): void => {
  const { connection } = entry;
  if (
    entry.listed &&
    isDeepStrictEqual([definitions, unusable], [connection.definitions, connection.unusable])
  )
    return;
  Object.assign(connection, { definitions, unusable });
  make(state, entry);
  entry.listed = true;
  if (!isLive(state, entry)) return;
  if (state.ledger.read(connection.spec.id) === undefined) record(state, entry);
  if (state.deps.authorization) writeCatalog(state.deps.authorization.catalogs, connection);
  schedulePublication(state);
};

/** Updates the published tools after each transition. */
const updateOffer = (state: State, entry: Entry): void => {
  const { connection } = entry;
  const listed = connection.actor.getSnapshot().hasTag('listed');
  const isOther = listed && connection.definitions !== entry.offer.of;
  const had = entry.listed && entry.offer.tools.length > 0;
  if (isOther) make(state, entry);
  if (listed === entry.listed && !isOther) return;
  entry.listed = listed;
  const isFirst = state.ledger.read(connection.spec.id) === undefined;
  if (isFirst && isLive(state, entry)) record(state, entry);
  const has = listed && entry.offer.tools.length > 0;
  if (isLive(state, entry) && (isOther || had !== has)) schedulePublication(state);
};

const isLive = ({ live }: State, { connection: { spec } }: Entry): boolean =>
  live.get(spec.id)?.connection.spec === spec;

export const make = (state: State, entry: Entry): void => {
  const { connection } = entry;
  const { id } = connection.spec;
  entry.offer = makeOffer(connection, state.ledger.read(id), callOf(state, id));
  const { leftOut } = entry.offer;
  if (leftOut.length === 0) return;
  const problems = leftOut.map(({ name, reason }) => masked(connection, `${name}: ${reason}`));
  state.deps.log.warn('mcp.tools_omitted', { server: id, problems });
};

/** Only the tool records of live entries are durable; candidates leave no trace. */
export const record = (state: State, { connection, offer, listed }: Entry): void => {
  if (listed) state.ledger.write(connection, offer);
};

/** Uses the current connection of the server, since the connection of the tool may have been replaced. */
const callOf =
  (state: State, server: string): Call =>
  async (tool, args, context) => {
    const entry = state.live.get(server);
    if (!entry) throw new ToolError('execution_failed', `unknown mcp server: ${server}`);
    const { clock, observe, authorization } = state.deps;
    const work = (connection: Connection) =>
      callTool(connection, tool, args, context, { clock, called: observe.called });
    const { accounts } = entry;
    if (!accounts || !authorization) return work(entry.connection);
    const call = { spec: entry.connection.spec, tool: mcpToolId(server, tool.name), args, context };
    return callForAccount({ ...authorization, accounts }, call, work);
  };

export const schedulePublication = (state: State): void => {
  if (state.publishTimer || state.closed) return;
  const now = performance.now();
  const wait = Math.max(0, state.quietUntil - now);
  state.publishTimer = setTimeout(() => {
    state.publishTimer = undefined;
    state.quietUntil = performance.now() + QUIET_MS;
    for (const entry of state.live.values()) record(state, entry);
    state.deps.changed();
  }, wait);
};

const QUIET_MS = 1000;
const ended = (state: State, entry: Entry): void => {
  entry.gone?.();
  state.leaving.delete(entry);
  state.candidates.delete(entry);
};
