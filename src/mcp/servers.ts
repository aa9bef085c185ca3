import { isDeepStrictEqual } from 'node:util';
import { type AnyActorRef, waitFor } from 'xstate';
import type { Clock } from '../schema/clock.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import type { McpInventory, McpStatus } from '../schema/mcp-status.ts';
import { Conflict, NotFound, Unavailable } from '../schema/outcome.ts';
import { type Tool, ToolError } from '../tools/tool.ts';
import { type CallObserver, callTool } from './call.ts';
import { type Connection, type ConnectionDeps, createConnection, masked, sendEvent } from './connection.ts';
import { readInventory } from './inventory.ts';
import type { LeftOut } from './left-out.ts';
import { emptyOffer, makeOffer, type Offer } from './offer.ts';
import { type Acceptance, acceptTools, pendingTools } from './pins.ts';
import { shownLeftOut, stateOf, statusOf } from './status.ts';
import { createToolLedger, type ToolLedger, type ToolLedgerDeps } from './tool-ledger.ts';
import type { Call } from './tools.ts';

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
  /** Returns the connection states for metrics. */
  states(): { server: string; state: ReturnType<typeof stateOf> }[];
  /** Resolves when every child has ended and every session was closed. */
  close(): Promise<void>;
};

export type McpManagerDeps = Omit<ConnectionDeps, 'reconnected'> & {
  clock: Clock;
  /** The returned function is called when the actor ends. */
  actors: { began(actor: AnyActorRef, scope: string): () => void };
  scope: string;
  observe: { called: CallObserver; reconnected(server: string): void };
  records: ToolLedgerDeps;
  /** Must not throw. */
  changed(): void;
};

type State = {
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

type Entry = {
  readonly connection: Connection;
  /** The published tools of the connection. */
  offer: Offer;
  listed: boolean;
  gone: (() => void) | undefined;
};

const QUIET_MS = 1000;
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
    status: (id) => statusOf(known(id).connection, known(id).offer),
    inventory: async (id) => readInventory(known(id).connection, known(id).offer),
    restart(id) {
      if (state.live.size === 0) throw new Unavailable('invalid managed config: no MCP registry is active');
      sendEvent(known(id).connection, { type: 'RESTART' });
    },
    async acceptTools(id, tools) {
      const entry = known(id);
      await accept(state, entry, tools);
      return statusOf(entry.connection, entry.offer);
    },
    retain: (servers) => state.ledger.retain(servers),
    leftOut: () =>
      Array.from(state.live, ([server, { connection, listed, offer }]) => ({
        server,
        tools: listed ? shownLeftOut(connection, offer) : [],
      })),
    states: () =>
      Array.from(state.live, ([server, { connection }]) => ({ server, state: stateOf(connection) })),
    close: () => closeAll(state),
  };
};

const begin = (state: State, spec: McpServerSpec): Entry => {
  const connection = createConnection(spec, { ...state.deps, reconnected: state.deps.observe.reconnected });
  const entry: Entry = {
    connection,
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

const make = (state: State, entry: Entry): void => {
  const { connection } = entry;
  const { id } = connection.spec;
  entry.offer = makeOffer(connection, state.ledger.read(id), callOf(state, id));
  const { leftOut } = entry.offer;
  if (leftOut.length === 0) return;
  const problems = leftOut.map(({ name, reason }) => masked(connection, `${name}: ${reason}`));
  state.deps.log.warn('mcp.tools_omitted', { server: id, problems });
};

/** Only the tool records of live entries are durable; candidates leave no trace. */
const record = (state: State, { connection, offer, listed }: Entry): void => {
  if (listed) state.ledger.write(connection, offer);
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

/** Uses the current connection of the server, since the connection of the tool may have been replaced. */
const callOf =
  (state: State, server: string): Call =>
  async (tool, args, context) => {
    const entry = state.live.get(server);
    if (!entry) throw new ToolError('execution_failed', `unknown mcp server: ${server}`);
    const { clock, observe } = state.deps;
    return callTool(entry.connection, tool, args, context, { clock, called: observe.called });
  };

const schedulePublication = (state: State): void => {
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

const ended = (state: State, entry: Entry): void => {
  entry.gone?.();
  state.leaving.delete(entry);
  state.candidates.delete(entry);
};

const connectFirst = async (
  state: State,
  spec: McpServerSpec,
): Promise<{ tools: readonly Tool[]; discard(): void }> => {
  if (state.closed) throw new Error('the service stops');
  const entry = begin(state, spec);
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
    entry.gone ??= state.deps.actors.began(entry.connection.actor, state.deps.scope);
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
    all.map(({ connection }) =>
      waitFor(connection.actor, ({ status }) => status !== 'active', { timeout: LONGEST_WAIT_MS }).catch(
        () => {},
      ),
    ),
  );
};
