import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { LiveActor } from '../schema/live-actor.ts';
import type { ActorAdapter, Nodes } from './actor-adapter.ts';
import type { ActorFilter } from './filter.ts';

/**
 * The live actors of one scope, in the order of their start.
 *
 * Serial numbers only increase, so a serial number is a stable position in the list while actors start and end: a
 * reader that continues after its last one misses none and receives none twice. The actors of a thread or a run are
 * found through the index of workers; other filters check each actor once, and read the states only of actors that
 * match so far.
 */

export type Entry<Actor = AnyActorRef> = {
  /** `<machine>:<id>` */
  readonly id: string;
  readonly machine: string;
  /** Increases with the start of actors, also across processes. */
  readonly serial: number;
  readonly parent: string | null;
  readonly actor: Actor;
  /** The active state nodes. XState creates a new list exactly when a state is entered or left. */
  nodes: Nodes;
  since: number;
  /** Undefined while no watcher needs the actor. */
  unwatch: (() => void) | undefined;
};

export type ActorIndex<Actor = AnyActorRef, Place = AnyMachineSnapshot> = {
  readonly sight: ActorAdapter<Actor, Place>;
  /** By id; an id that is taken again moves to the end. */
  readonly actors: Map<string, Entry<Actor>>;
  /** By the id of the actor that they work for, whether or not it is live. */
  readonly workers: Map<string, Entry<Actor>[]>;
};

export const createRegister = <Actor, Place>(
  sight: ActorAdapter<Actor, Place>,
): ActorIndex<Actor, Place> => ({
  sight,
  actors: new Map(),
  workers: new Map(),
});

/** The register without the adapter for its actors. */
type Known<Actor> = Pick<ActorIndex<Actor, unknown>, 'actors' | 'workers'>;

export const add = <Actor>({ actors, workers }: Known<Actor>, entry: Entry<Actor>): void => {
  actors.set(entry.id, entry);
  if (entry.parent === null) return;
  const others = workers.get(entry.parent);
  if (others) others.push(entry);
  else workers.set(entry.parent, [entry]);
};

export const remove = <Actor>({ actors, workers }: Known<Actor>, entry: Entry<Actor>): void => {
  actors.delete(entry.id);
  const others = entry.parent === null ? undefined : workers.get(entry.parent);
  if (entry.parent === null || !others) return;
  if (others.length === 1) workers.delete(entry.parent);
  else others.splice(others.indexOf(entry), 1);
};

/** Returns the first matching actors after a serial number, and whether there are more. */
export const take = <Actor>(
  register: Known<Actor>,
  filter: ActorFilter,
  after: number,
  limit: number,
): { entries: Entry<Actor>[]; more: boolean } => {
  const entries: Entry<Actor>[] = [];
  for (const entry of candidates(register, filter)) {
    if (entry.serial <= after || !isWanted(register, filter, entry) || !isInState(filter, entry)) continue;
    if (entries.length === limit) return { entries, more: true };
    entries.push(entry);
  }
  return { entries, more: false };
};

/** Counts the matching actors in each of these states, with one check of each actor for all of them. */
export const count = <Actor>(
  register: Known<Actor>,
  filter: ActorFilter,
  states: readonly ActorFilter['state'][],
): number[] => {
  const found = states.map(() => 0);
  for (const entry of candidates(register, filter)) {
    if (!isWanted(register, filter, entry)) continue;
    for (let index = 0; index < states.length; index += 1) {
      const state = states[index];
      if (state === undefined || state(entry.nodes)) found[index] = (found[index] ?? 0) + 1;
    }
  }
  return found;
};

/** Ignores the state of the filter, because states change. */
export const isWanted = <Actor>(
  register: Known<Actor>,
  { machine, thread, run }: ActorFilter,
  entry: Entry<Actor>,
): boolean =>
  (machine === undefined || entry.machine === machine) &&
  (thread === undefined || worksFor(register, entry, actorId('thread', thread))) &&
  (run === undefined || worksFor(register, entry, actorId('run', run)));

const isInState = ({ state }: ActorFilter, { nodes }: Pick<Entry, 'nodes'>): boolean =>
  state === undefined || state(nodes);

export const actorId = (machine: string, id: string): string => `${machine}:${id}`;

/** In the order of their serial numbers. */
const candidates = <Actor>(register: Known<Actor>, { thread, run }: ActorFilter): Iterable<Entry<Actor>> => {
  const root = run === undefined ? thread && actorId('thread', thread) : actorId('run', run);
  if (root === undefined) return register.actors.values();
  return [...familyOf(register, root)].sort((one, other) => one.serial - other.serial);
};

function* familyOf<Actor>(register: Known<Actor>, id: string): Generator<Entry<Actor>> {
  const head = register.actors.get(id);
  if (head) yield head;
  for (const worker of register.workers.get(id) ?? []) yield* familyOf(register, worker.id);
}

/** Whether the actor has this id, or works for it directly or indirectly. */
const worksFor = <Actor>({ actors }: Known<Actor>, entry: Entry<Actor>, id: string): boolean => {
  let each: Entry<Actor> | undefined = entry;
  while (each && each.id !== id && each.parent !== id) {
    each = each.parent === null ? undefined : actors.get(each.parent);
  }
  return each !== undefined;
};

/** Returns the actor with its current state, or with a state that it is about to enter. */
export const liveActor = <Actor, Place>(
  { workers, sight }: ActorIndex<Actor, Place>,
  { id, machine, parent, since, actor }: Entry<Actor>,
  place = sight.placeOf(actor),
  entered = since,
): LiveActor => ({
  id,
  machine,
  state: sight.stateOf(place),
  tags: [...sight.tagsOf(place)],
  since: entered,
  parent,
  children: (workers.get(id) ?? []).map((worker) => worker.id),
  at_rest: false,
});
