import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { LiveActor } from '../schema/live-actor.ts';
import type { ActorFilter } from './filter.ts';
import type { Nodes, Sight } from './sight.ts';

/**
 * The live actors of one scope, in the order in which they began.
 *
 * Serial numbers only grow, so one of them is a place in the list that stays where it is while actors come and go:
 * whoever goes on behind the last one that it had misses none and gets none twice. The actors of a thread or a run
 * are found through who works for whom; other filters look at each actor once, and read the states of those that
 * they still have a choice about.
 */

export type Entry<Actor = AnyActorRef> = {
  /** `<machine>:<id>` */
  readonly id: string;
  readonly machine: string;
  /** Of two actors the later one has the higher number, also when the earlier one was in an earlier process. */
  readonly serial: number;
  readonly parent: string | null;
  readonly actor: Actor;
  /** The states that it is in. XState makes a new list when one is entered or left, and only then. */
  nodes: Nodes;
  since: number;
  /** Undefined while nobody watches it. */
  unwatch: (() => void) | undefined;
};

export type Register<Actor = AnyActorRef, Place = AnyMachineSnapshot> = {
  readonly sight: Sight<Actor, Place>;
  /** By id; an id that is taken again goes to the end. */
  readonly actors: Map<string, Entry<Actor>>;
  /** By the id of whom they work for, whether or not that has an actor. */
  readonly workers: Map<string, Entry<Actor>[]>;
};

export const createRegister = <Actor, Place>(sight: Sight<Actor, Place>): Register<Actor, Place> => ({
  sight,
  actors: new Map(),
  workers: new Map(),
});

/** Without how its actors are looked at. */
type Known<Actor> = Pick<Register<Actor, unknown>, 'actors' | 'workers'>;

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

/** The first ones behind a serial number, and whether there are more. */
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

/** How many of the actors that are wanted are in each of these states. One look at each actor, for all of them. */
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

/** Whatever state it is in: that changes. */
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

/** It is the actor of this id, or works for it, directly or not. */
const worksFor = <Actor>({ actors }: Known<Actor>, entry: Entry<Actor>, id: string): boolean => {
  let each: Entry<Actor> | undefined = entry;
  while (each && each.id !== id && each.parent !== id) {
    each = each.parent === null ? undefined : actors.get(each.parent);
  }
  return each !== undefined;
};

/** Where it is, or where it is about to be. */
export const liveActor = <Actor, Place>(
  { workers, sight }: Register<Actor, Place>,
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
