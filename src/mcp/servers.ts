import { isDeepStrictEqual } from 'node:util';
import { type AnyActorRef, waitFor } from 'xstate';
import type { Clock } from '../schema/clock.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import type { McpInventory, McpStatus } from '../schema/mcp-status.ts';
import { Conflict, NotFound, Unavailable } from '../schema/outcome.ts';
import { type Tool, ToolError } from '../tools/tool.ts';
import { type CallObserver, callTool } from './call.ts';
import { type Connection, type ConnectionDeps, createConnection, masked, tell } from './connection.ts';
import { inventoryOf } from './inventory.ts';
import type { LeftOut } from './left-out.ts';
import { emptyOffer, makeOffer, type Offer } from './offer.ts';
import { type Acceptance, acceptTools, pendingTools } from './pins.ts';
import { shownLeftOut, stateOf, statusOf } from './status.ts';
import { createToolLedger, type ToolLedger, type ToolLedgerDeps } from './tool-ledger.ts';
import type { Call } from './tools.ts';

/**
 * The connections to all MCP servers of the configuration (mcp.md B10).
 *
 * Guarantees: nobody waits for a server but whoever writes its entry, and that not long. An entry that stays as it is
 * keeps its connection; one that changes gets a new one, and the old one ends when its calls have. `changed` is called
 * when tools have come or gone, at once, and not more often than once a second.
 * Relies on a publication after `changed`, which asks for the tools and may apply the same entries again.
 * Costs nothing while there are no entries.
 */
export type McpManager = {
  /**
   * The first connection of an entry that is new or changed, before it is stored. @throws Error that says why not
   */
  connect(spec: McpServerSpec): Promise<{ tools: readonly Tool[]; discard(): void }>;
  /** Of the servers that offer some now, by id of the server. */
  tools(): ReadonlyMap<string, readonly Tool[]>;
  /** The entries that have just gone live. */
  apply(specs: readonly McpServerSpec[]): void;
  /** @throws NotFound `mcp-server/<id>` */
  status(id: string): McpStatus;
  /** @throws NotFound */
  inventory(id: string): Promise<McpInventory>;
  /** A reconnect is under way when it returns. @throws NotFound, or Unavailable when no server is configured */
  restart(id: string): void;
  /**
   * Accepts definitions of tools that are new or have changed; the status after it. All of them, or none.
   * @throws NotFound, or Conflict when a tool has no such definition that waits to be accepted
   */
  acceptTools(id: string, tools: readonly Acceptance[]): Promise<McpStatus>;
  /** Servers that are still configured, hidden ones included: what is known of the tools of others is removed. */
  retain(servers: ReadonlySet<string>): void;
  /** Tools that are not offered, by server. */
  leftOut(): { server: string; tools: readonly LeftOut[] }[];
  /** For metrics. */
  states(): { server: string; state: ReturnType<typeof stateOf> }[];
  /** Resolves when every child is gone and every session was told so. */
  close(): Promise<void>;
};

export type McpManagerDeps = Omit<ConnectionDeps, 'reconnected'> & {
  clock: Clock;
  /** What it returns is called when the actor is gone. */
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
  /** Of writes that are not decided. */
  readonly candidates: Set<Entry>;
  readonly leaving: Set<Entry>;
  /** Until when a change of tools waits, so that a server that changes them for ever publishes little. */
  quietUntil: number;
  telling: NodeJS.Timeout | undefined;
  closed: boolean;
};

type Entry = {
  readonly connection: Connection;
  /** What is published of it. */
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
    telling: undefined,
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
    inventory: async (id) => inventoryOf(known(id).connection, known(id).offer),
    restart(id) {
      if (state.live.size === 0) throw new Unavailable('invalid managed config: no MCP registry is active');
      tell(known(id).connection, { type: 'RESTART' });
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
    next: () => look(state, entry),
    complete: () => ended(state, entry),
    error: (err) => state.deps.log.warn({ err, server: spec.id }, 'the connection to an MCP server failed'),
  });
  connection.actor.start();
  return entry;
};

/** What is published of it, after each transition. */
const look = (state: State, entry: Entry): void => {
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
  if (isLive(state, entry) && (isOther || had !== has)) tellOfTools(state);
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
  state.deps.log.warn({ server: id, problems }, 'not all tools of an MCP server are offered');
};

/** What the tools of a live entry were and are is durable; a candidate leaves no trace. */
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
  tellOfTools(state);
  await kept;
};

/** By whatever connection the server has when it is called: that of the tool may have been replaced. */
const callOf =
  (state: State, server: string): Call =>
  async (tool, args, context) => {
    const entry = state.live.get(server);
    if (!entry) throw new ToolError('execution_failed', `unknown mcp server: ${server}`);
    const { clock, observe } = state.deps;
    return callTool(entry.connection, tool, args, context, { clock, called: observe.called });
  };

const tellOfTools = (state: State): void => {
  if (state.telling || state.closed) return;
  const now = performance.now();
  const wait = Math.max(0, state.quietUntil - now);
  state.telling = setTimeout(() => {
    state.telling = undefined;
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
    // Another write of the same entry may have gone live with this connection: its own is left, then.
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

/** @throws Error that says why not */
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

/** Of two servers with tools of one id, the one that is written comes too late. */
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
  tell(entry.connection, { type });
};

const closeAll = async (state: State): Promise<void> => {
  state.closed = true;
  clearTimeout(state.telling);
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
