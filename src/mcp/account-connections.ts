import { waitFor } from 'xstate';
import type { Account, ActingAccount } from '../schema/account.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import { createAuthorize, Unauthorized } from './authorized.ts';
import { type Connection, type ConnectionDeps, createConnection, sendEvent } from './connection.ts';
import { McpFailure } from './failure.ts';
import type { TokenSource } from './token-source.ts';

/**
 * The connections of accounts to a server, each with the tokens of its account (identity.md 6.1).
 *
 * Guarantees: a connection is used for its own account only. It is opened by the first call and closed after ten
 * minutes without one. One that could not be opened is closed at once, so it never retries without a call.
 */
export type AccountConnections = {
  /** Waits until the connection is open. @throws McpFailure */
  open(account: ActingAccount): Promise<Connection>;
  /** Closes the connection of an account after its calls. */
  close(account: Account): void;
  closeAll(): Promise<void>;
  hasOpen(): boolean;
};

type Deps = ConnectionDeps & {
  tokens: TokenSource;
  idleMs: number;
  /** Called after each listing. */
  listed(connection: Connection): void;
};

type Cell = {
  readonly connection: Connection;
  /** Why the account has no token. */
  needed: Unauthorized | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Callers that wait for the connection to open. */
  opening: number;
};

type State = { spec: McpServerSpec; deps: Deps; cells: Map<string, Cell>; leaving: Set<Connection> };

export const createAccountConnections = (spec: McpServerSpec, deps: Deps): AccountConnections => {
  const state: State = { spec, deps, cells: new Map(), leaving: new Set() };
  return {
    open: (account) => open(state, account),
    close(account) {
      const cell = state.cells.get(keyOf(account));
      if (cell) drop(state, keyOf(account), cell, 'REMOVE');
    },
    async closeAll() {
      for (const [key, cell] of state.cells) drop(state, key, cell, 'STOP');
      await Promise.all(Array.from(state.leaving, ended));
    },
    hasOpen: () => [...state.cells.values()].some(({ connection }) => isOpen(connection)),
  };
};

const keyOf = ({ scope, user }: Account): string => JSON.stringify([scope, user ?? null]);

const isOpen = ({ actor }: Connection): boolean => actor.getSnapshot().hasTag('connected');

const open = async (state: State, account: ActingAccount): Promise<Connection> => {
  const key = keyOf(account);
  const cell = state.cells.get(key) ?? begin(state, key, account);
  cell.opening += 1;
  try {
    await decided(cell.connection);
  } finally {
    cell.opening -= 1;
    postpone(state, key, cell);
  }
  const { actor } = cell.connection;
  if (isOpen(cell.connection)) return cell.connection;
  drop(state, key, cell, 'STOP');
  throw (
    cell.needed ??
    new McpFailure(
      'unavailable',
      actor.getSnapshot().context.error ?? 'mcp transport error: connection closed',
    )
  );
};

/** Waits until the connection is open or has failed. @throws McpFailure */
const decided = async ({ actor, target: { timeoutMs } }: Connection): Promise<void> => {
  await waitFor(actor, (snapshot) => !snapshot.matches('connecting') && !snapshot.matches('reconnecting'), {
    timeout: timeoutMs,
  }).catch(() => {
    throw new McpFailure('unavailable', `mcp transport error: no connection within ${timeoutMs / 1000} s`);
  });
};

const begin = (state: State, key: string, { scope, user }: ActingAccount): Cell => {
  const { spec, deps } = state;
  // The rights of the credential are judged for each call, before the connection is used.
  const authorize = createAuthorize(deps.tokens, { scope, user, credential: undefined }, spec);
  const connection = createConnection(spec, deps, (refusal) =>
    authorize(refusal).catch((error) => {
      if (error instanceof Unauthorized) cell.needed = error;
      throw error;
    }),
  );
  const cell: Cell = { connection, needed: undefined, timer: undefined, opening: 0 };
  state.cells.set(key, cell);
  connection.actor.subscribe({
    next: (snapshot) => {
      if (snapshot.hasTag('listed')) deps.listed(connection);
    },
    complete: () => state.leaving.delete(connection),
    error: (err) => deps.log.warn('mcp.machine_failed', { err, server: spec.id }),
  });
  connection.actor.start();
  return cell;
};

/** Starts the idle time again. */
const postpone = (state: State, key: string, cell: Cell): void => {
  clearTimeout(cell.timer);
  cell.timer = setTimeout(() => {
    if (cell.connection.calls + cell.opening > 0) postpone(state, key, cell);
    else drop(state, key, cell, 'STOP');
  }, state.deps.idleMs).unref();
};

const drop = (state: State, key: string, cell: Cell, type: 'REMOVE' | 'STOP'): void => {
  clearTimeout(cell.timer);
  if (state.cells.get(key) === cell) state.cells.delete(key);
  if (cell.connection.actor.getSnapshot().status !== 'active') return;
  state.leaving.add(cell.connection);
  sendEvent(cell.connection, { type });
};

const CLOSE_MS = 10_000;

const ended = ({ actor }: Connection): Promise<unknown> =>
  waitFor(actor, ({ status }) => status !== 'active', { timeout: CLOSE_MS }).catch(() => {});
