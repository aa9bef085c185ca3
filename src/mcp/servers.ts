import { isDeepStrictEqual } from 'node:util';
import { waitFor } from 'xstate';
import type { Account } from '../schema/account.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import type { McpInventory, McpStatus } from '../schema/mcp-status.ts';
import { Conflict, NotFound, Unavailable } from '../schema/outcome.ts';
import type { Tool } from '../tools/tool.ts';
import { type Connection, sendEvent } from './connection.ts';
import {
  begin,
  type Entry,
  type McpManagerDeps,
  make,
  record,
  type State,
  schedulePublication,
  sharedIn,
  statusOfEntry,
} from './entries.ts';
import { readInventory } from './inventory.ts';
import type { LeftOut } from './left-out.ts';
import { type Acceptance, acceptTools, pendingTools } from './pins.ts';
import { shownLeftOut, stateOf } from './status.ts';
import { createToolLedger } from './tool-ledger.ts';

/**
 * Manages the connections to all MCP servers of the configuration (mcp.md B10).
 *
 * Guarantees: only the write of an entry waits for its server, and only for a short time. An unchanged entry keeps its
 * connection; a changed one gets a new connection, and the old one closes after its calls. `changed` is called when
 * tools were added or removed: immediately, but at most once a second.
 * Relies on a publication after `changed`, which reads the tools and may apply the same entries again.
 * Cost: none without entries.
 */
export type McpManager = {
  /** Opens the first connection of a new or changed entry before it is stored. @throws Error with the reason */
  connect(spec: McpServerSpec): Promise<{ tools: readonly Tool[]; discard(): void }>;
  /** Returns the offered tools by server id. */
  tools(): ReadonlyMap<string, readonly Tool[]>;
  /** Applies the published entries. */
  apply(specs: readonly McpServerSpec[]): void;
  /** @throws NotFound `mcp-server/<id>` */
  status(id: string): McpStatus;
  /** @throws NotFound */
  inventory(id: string): Promise<McpInventory>;
  /** Starts a reconnect and returns immediately. @throws NotFound, or Unavailable when no server is configured */
  restart(id: string): void;
  /**
   * Accepts definitions of new or changed tools, all or none, and returns the status afterwards.
   * @throws NotFound, or Conflict when a tool has no such pending definition
   */
  acceptTools(id: string, tools: readonly Acceptance[]): Promise<McpStatus>;
  /** Removes the tool records of servers that are no longer configured. `servers` includes hidden ones. */
  retain(servers: ReadonlySet<string>): void;
  /** Returns tools that are not offered, by server. */
  leftOut(): { server: string; tools: readonly LeftOut[] }[];
  /** Opens the connection of an account in the background, which reads the tools. */
  openFor(account: Account, server: string): void;
  /** Closes the connection of an account after its calls. */
  closeFor(account: Account, server: string): void;
  /** Returns the connection states for metrics. */
  states(): { server: string; state: ReturnType<typeof stateOf> }[];
  /** Resolves when every child has ended and every session was closed. */
  close(): Promise<void>;
};

const LONGEST_WAIT_MS = 10_000;

/**
 * @example
 * const mcp = createMcpManager({ clock, log, version, refreshMs: 60_000, actors, scope, observe, changed });
 * mcp.apply([McpServerSpec.parse({ id: 'files', transport: 'stdio', command: 'some-mcp-server' })]);
 */
export const createMcpManager = (deps: McpManagerDeps): McpManager => {
  const state: State = {
    deps,
    ledger: createToolLedger(deps.records),
    live: new Map(),
    candidates: new Set(),
    leaving: new Set(),
    quietUntil: 0,
    publishTimer: undefined,
    closed: false,
  };
  const known = (id: string): Entry => {
    const entry = state.live.get(id);
    if (!entry) throw new NotFound(`mcp-server/${id}`);
    return entry;
  };
  return {
    connect: (spec) => connectFirst(state, spec),
    tools: () =>
      new Map(
        [...state.live].flatMap(([id, { listed, offer }]) => (listed ? [[id, offer.tools] as const] : [])),
      ),
    apply: (specs) => apply(state, specs),
    status: (id) => statusOfEntry(known(id)),
    inventory: async (id) => readInventory(known(id).connection, known(id).offer, sharedIn(known(id))),
    restart(id) {
      if (state.live.size === 0) throw new Unavailable('invalid managed config: no MCP registry is active');
      const { accounts, connection } = known(id);
      if (accounts) void accounts.closeAll();
      else sendEvent(connection, { type: 'RESTART' });
    },
    async acceptTools(id, tools) {
      const entry = known(id);
      await accept(state, entry, tools);
      return statusOfEntry(entry);
    },
    retain(servers) {
      state.ledger.retain(servers);
      deps.authorization?.catalogs.retain(servers);
    },
    leftOut: () =>
      Array.from(state.live, ([server, { connection, listed, offer }]) => ({
        server,
        tools: listed ? shownLeftOut(connection, offer) : [],
      })),
    states: () =>
      Array.from(state.live, ([server, { connection, accounts }]) => ({
        server,
        state: accounts ? (accounts.hasOpen() ? 'ready' : 'disconnected') : stateOf(connection),
      })),
    openFor(account, server) {
      const opening = state.live.get(server)?.accounts?.open({ ...account, credential: undefined });
      opening?.catch((err) => deps.log.debug('mcp.account_not_connected', { err, server }));
    },
    closeFor: (account, server) => state.live.get(server)?.accounts?.close(account),
    close: () => closeAll(state),
  };
};

const accept = async (state: State, entry: Entry, tools: readonly Acceptance[]): Promise<void> => {
  const { connection, offer } = entry;
  const { id, pin_tools } = connection.spec;
  const waiting = new Map(pendingTools(offer.records).map(({ name, digest }) => [name, digest]));
  const wrong = tools.find(({ name, digest }) => waiting.get(name) !== digest);
  if (wrong)
    throw new Conflict(`tool '${wrong.name}' of mcp server '${id}' has no such definition to accept`);
  record(state, entry);
  const kept = state.ledger.replace(
    id,
    acceptTools(offer.records, tools, { held: pin_tools, now: state.deps.clock.now() }),
  );
  make(state, entry);
  schedulePublication(state);
  await kept;
};

const connectFirst = async (
  state: State,
  spec: McpServerSpec,
): Promise<{ tools: readonly Tool[]; discard(): void }> => {
  if (state.closed) throw new Error('the service stops');
  const entry = begin(state, spec);
  // No account is connected to a new entry, and the tools of a changed one are those of its last listing.
  if (entry.accounts) return { tools: entry.offer.tools, discard: () => {} };
  state.candidates.add(entry);
  const discard = (): void => {
    // Another write of the same entry may have published this connection; then its own candidate is closed.
    const spare = state.candidates.has(entry) ? entry : candidateFor(state, spec);
    if (spare && state.candidates.delete(spare)) leave(state, spare, 'STOP');
  };
  try {
    await reached(entry.connection);
    const [problem] = [...entry.offer.refusals, ...taken(state, entry)];
    if (problem !== undefined) throw new Error(problem);
    return { tools: entry.offer.tools, discard };
  } catch (error) {
    discard();
    throw error;
  }
};

/** @throws Error with the reason */
const reached = async ({ actor, target }: Connection): Promise<void> => {
  const timeout = Math.min(target.timeoutMs, LONGEST_WAIT_MS);
  const decided = await waitFor(actor, (snapshot) => !snapshot.matches('connecting'), { timeout }).catch(
    () => {
      throw new Error(`mcp transport error: no connection within ${timeout / 1000} s`);
    },
  );
  if (!decided.hasTag('connected'))
    throw new Error(decided.context.error ?? 'mcp transport error: connection closed');
};

/** If two servers have tools with the same id, the entry that is being written is rejected. */
const taken = ({ live }: State, { connection: { spec }, offer }: Entry): string[] => {
  const others = new Set(
    [...live].flatMap(([id, entry]) =>
      id === spec.id || !entry.listed ? [] : entry.offer.tools.map(({ descriptor }) => descriptor.id),
    ),
  );
  return offer.tools.flatMap(({ descriptor: { id } }) =>
    others.has(id) ? [`tool id already registered: ${id}`] : [],
  );
};

const apply = (state: State, specs: readonly McpServerSpec[]): void => {
  if (state.closed) return;
  const before = state.live;
  state.live = new Map();
  for (const spec of specs) {
    const known = before.get(spec.id);
    const entry = known && isDeepStrictEqual(known.connection.spec, spec) ? known : adopt(state, spec);
    state.live.set(spec.id, entry);
    if (!entry.accounts) entry.gone ??= state.deps.actors.began(entry.connection.actor, state.deps.scope);
    record(state, entry);
  }
  const kept = new Set(state.live.values());
  for (const entry of before.values()) if (!kept.has(entry)) leave(state, entry, 'REMOVE');
};

const candidateFor = ({ candidates }: State, spec: McpServerSpec): Entry | undefined =>
  [...candidates].find(({ connection }) => isDeepStrictEqual(connection.spec, spec));

const adopt = (state: State, spec: McpServerSpec): Entry => {
  const candidate = candidateFor(state, spec);
  if (!candidate) return begin(state, spec);
  state.candidates.delete(candidate);
  return candidate;
};

const leave = (state: State, entry: Entry, type: 'REMOVE' | 'STOP'): void => {
  if (entry.accounts) return void entry.accounts.closeAll();
  if (entry.connection.actor.getSnapshot().status !== 'active') return;
  state.leaving.add(entry);
  sendEvent(entry.connection, { type });
};

const closeAll = async (state: State): Promise<void> => {
  state.closed = true;
  clearTimeout(state.publishTimer);
  const all = [...state.live.values(), ...state.candidates, ...state.leaving];
  for (const entry of all) leave(state, entry, 'STOP');
  await Promise.all(
    all.map(({ connection, accounts }) =>
      accounts
        ? accounts.closeAll()
        : waitFor(connection.actor, ({ status }) => status !== 'active', { timeout: LONGEST_WAIT_MS }).catch(
            () => {},
          ),
    ),
  );
};
