import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  fromPromise,
  getNextTransitions,
  SimulatedClock,
} from 'xstate';
import { getAdjacencyMap, serializeSnapshot } from 'xstate/graph';
import { describeMachine, transitionIds } from '../../src/diagrams/describe.ts';
import type { MachineDescription } from '../../src/diagrams/description.ts';

/**
 * Walks every event in every state that a machine can reach: first on the model (xstate/graph), then each of these
 * edges again with an actor whose services are stubs and whose clock is simulated, which must arrive in the state that
 * the model predicts. An edge contains what the actor actually did: transitions taken, actions executed. An actor
 * continues along unwalked edges as long as its state has any.
 *
 * The walk ends because contexts are finite; a machine that counts without bound needs a bound in its input.
 */

/** An outcome of a service. */
export type Outcome = { output: unknown } | { error: Error };

export type World = {
  input?: unknown;
  /** All external events. Each of them is sent in every state, legal or not. */
  events: readonly AnyEventObject[];
  services?: Readonly<Record<string, readonly Outcome[]>>;
  /** Conditions at the end of a delay; `before` receives each of them with the event. */
  delays?: readonly Readonly<Record<string, unknown>>[];
  /** Prepares the world for the event; a machine starts with 'xstate.init'. */
  before?(event: AnyEventObject): void;
};

export type Edge = {
  from: AnyMachineSnapshot;
  event: AnyEventObject;
  to: AnyMachineSnapshot;
  /** Ids of the transitions taken, as in the description of the machine. */
  taken: readonly string[];
  actions: readonly string[];
  /** For an edge that ends the machine: its reactions when all events were sent again. */
  late: readonly string[];
};

export type Walk = { edges: readonly Edge[]; taken: ReadonlySet<string>; description: MachineDescription };

const INIT = { type: 'xstate.init' };
const DONE = 'xstate.done.actor.';
const ERROR = 'xstate.error.actor.';
const LONGER_THAN_ANY_DELAY = 2 ** 32;

const keyOf = (snapshot: AnyMachineSnapshot): string => serializeSnapshot(snapshot);

const sourcesOf = (description: MachineDescription): ReadonlyMap<string, string> =>
  new Map(description.states.flatMap(({ invokes }) => invokes.map(({ id, src }) => [id, src] as const)));

/** All possible next events: external ones, outcomes of running services, and ends of delays. */
const eventsIn = (state: AnyMachineSnapshot, world: World, sources: ReadonlyMap<string, string>) => {
  const own = new Set(getNextTransitions(state).map(({ eventType }) => eventType));
  const running = [...sources].filter(([id]) => own.has(`${DONE}${id}`) || own.has(`${ERROR}${id}`));
  return [
    ...world.events,
    ...running.flatMap(([actorId, src]) =>
      (world.services?.[src] ?? []).map((outcome) =>
        'error' in outcome
          ? { type: `${ERROR}${actorId}`, error: outcome.error, actorId }
          : { type: `${DONE}${actorId}`, output: outcome.output, actorId },
      ),
    ),
    ...[...own]
      .filter((type) => type.startsWith('xstate.after.'))
      .flatMap((type) => (world.delays ?? [{}]).map((found) => ({ ...found, type }))),
  ];
};

/** A state of the model: the shortest path to it, and its unwalked edges. */
type ModelState = { way: readonly AnyEventObject[]; open: ModelEdge[] };
type ModelEdge = { event: AnyEventObject; expected: string };

/** Every state of the model, by its key. */
const statesOfModel = (
  machine: AnyStateMachine,
  world: World,
  sources: ReadonlyMap<string, string>,
): ReadonlyMap<string, ModelState> => {
  const { getInitialSnapshot, getPersistedSnapshot } = machine;
  const model: AnyStateMachine = Object.assign(Object.create(machine), {
    getInitialSnapshot,
    getPersistedSnapshot,
    transition: (...args: Parameters<AnyStateMachine['transition']>) => {
      world.before?.(args[1]);
      return machine.transition(...args);
    },
  });
  world.before?.(INIT);
  const adjacency = getAdjacencyMap(model, {
    input: world.input,
    events: (state: AnyMachineSnapshot) => eventsIn(state, world, sources),
    stopWhen: ({ status }) => status !== 'active',
    limit: 20_000,
  });
  const [first] = Object.keys(adjacency);
  return collect(adjacency, first);
};

type Adjacency = ReturnType<typeof getAdjacencyMap<AnyMachineSnapshot, AnyEventObject, unknown>>;

const collect = (adjacency: Adjacency, first: string | undefined): ReadonlyMap<string, ModelState> => {
  const byKey = new Map<string, Adjacency[keyof Adjacency]>(Object.entries(adjacency));
  const states = new Map<string, ModelState>(first === undefined ? [] : [[first, { way: [], open: [] }]]);
  // A Map is iterated in insertion order, including entries added on the way: breadth first.
  for (const [key, { way, open }] of states) {
    for (const { event, state } of Object.values(byKey.get(key)?.transitions ?? {})) {
      const expected = keyOf(state);
      // Edges that change nothing come first, because the actor stays in its state.
      if (expected === key) open.unshift({ event, expected });
      else open.push({ event, expected });
      if (!states.has(expected)) states.set(expected, { way: [...way, event], open: [] });
    }
  }
  return states;
};

type Pending = { resolve(output: unknown): void; reject(error: unknown): void };

/** The machine with a stub for each service. A stub is pending until the test settles its promise. */
const bind = (machine: AnyStateMachine, sources: ReadonlyMap<string, string>) => {
  const pending = new Map<string, Pending>();
  const stub = fromPromise(
    ({ self }) => new Promise((resolve, reject) => pending.set(self.id, { resolve, reject })),
  );
  const bound = machine.provide({
    actors: Object.fromEntries([...new Set(sources.values())].map((src) => [src, stub])),
  });
  return { bound, pending, ids: transitionIds(bound) };
};

/** An actor of the machine in a world where nothing happens without the test. */
const stage = ({ bound, pending, ids }: ReturnType<typeof bind>, world: World) => {
  const taken: string[] = [];
  const actions: string[] = [];
  const clock = new SimulatedClock();
  world.before?.(INIT);
  const actor = createActor(bound, { input: world.input, clock });
  actor.system.inspect((inspected) => {
    if (inspected.actorRef !== actor) return;
    // Excludes internal actions of XState, such as starting and cancelling a delay.
    if (inspected.type === '@xstate.action' && !inspected.action.type.startsWith('xstate.')) {
      actions.push(inspected.action.type);
    }
    if (inspected.type === '@xstate.microstep') {
      taken.push(...inspected._transitions.flatMap((transition) => ids.get(transition) ?? []));
    }
  });
  const happen = async (event: AnyEventObject): Promise<void> => {
    world.before?.(event);
    if (event.type.startsWith('xstate.after.')) clock.increment(LONGER_THAN_ANY_DELAY);
    else if (event.type.startsWith(DONE)) pending.get(event.actorId)?.resolve(event.output);
    else if (event.type.startsWith(ERROR)) pending.get(event.actorId)?.reject(event.error);
    else return actor.send(event);
    await new Promise(setImmediate);
  };
  return { actor, taken, actions, happen };
};

type Stage = ReturnType<typeof stage>;

const walkEdge = async (
  { actor, taken, actions, happen }: Stage,
  { event, expected }: ModelEdge,
  world: World,
): Promise<Edge> => {
  const from = actor.getSnapshot();
  taken.length = 0;
  actions.length = 0;
  await happen(event);
  const to = actor.getSnapshot();
  if (keyOf(to) !== expected) {
    throw new Error(`${keyOf(from)} on ${JSON.stringify(event)} leads to ${keyOf(to)}, not to ${expected}`);
  }
  const edge = { from, event, to, taken: [...taken], actions: [...actions] };
  taken.length = 0;
  if (to.status !== 'active') for (const late of world.events) await happen(late);
  return { ...edge, late: to.status === 'active' ? [] : [...taken] };
};

export const walk = async (machine: AnyStateMachine, world: World): Promise<Walk> => {
  const description = describeMachine(machine.id, machine);
  const sources = sourcesOf(description);
  const stubbed = bind(machine, sources);
  const states = statesOfModel(machine, world, sources);
  const edges: Edge[] = [];
  for (const { way, open } of states.values()) {
    while (open.length > 0) {
      const staged = stage(stubbed, world);
      staged.actor.start();
      for (const earlier of way) await staged.happen(earlier);
      for (let next = open.shift(); next; next = states.get(next.expected)?.open.shift())
        edges.push(await walkEdge(staged, next, world));
      staged.actor.stop();
    }
  }
  return { edges, taken: new Set(edges.flatMap((edge) => edge.taken)), description };
};

/** The transitions of the description that no edge of these walks took. */
export const untaken = (description: MachineDescription, walks: readonly Walk[]): string[] =>
  description.transitions.map(({ id }) => id).filter((id) => !walks.some(({ taken }) => taken.has(id)));

/** The outermost state, or the path of the innermost one: 'running.inferring'. */
export const pathOf = ({ value }: AnyMachineSnapshot): string => {
  const names: string[] = [];
  let inner: unknown = value;
  while (typeof inner === 'object' && inner !== null) {
    const [entry] = Object.entries(inner);
    if (!entry) break;
    names.push(entry[0]);
    inner = entry[1];
  }
  return [...names, inner].join('.');
};
