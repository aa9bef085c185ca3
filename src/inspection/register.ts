import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { MachineName } from '../../machines/index.ts';
import type { LiveActor } from '../schema/live-actor.ts';
import type { ActorFilter } from './filter.ts';
import { snapshotOf, stateOf } from './watch.ts';

/**
 * The live actors of one scope, in the order in which they began.
 *
 * Serial numbers only grow, so one of them is a place in the list that stays where it is while actors come and go:
 * whoever goes on behind the last one that it had misses none and gets none twice. The actors of a thread or a run
 * are found through who works for whom; other filters look at each actor once, and read the states of those that
 * they still have a choice about.
 */

export type Entry = {
  /** `<machine>:<id>` */
  readonly id: string;
  readonly machine: MachineName;
  /** Of two actors the later one has the higher number, also when the earlier one was in an earlier process. */
  readonly serial: number;
  readonly parent: string | null;
  readonly actor: AnyActorRef;
  /** The states that it is in. XState makes a new list when one is entered or left, and only then. */
  nodes: AnyMachineSnapshot['_nodes'];
  since: number;
  /** Undefined while nobody watches it. */
  unwatch: (() => void) | undefined;
};

export type Register = {
  /** By id; an id that is taken again goes to the end. */
  readonly actors: Map<string, Entry>;
  /** By the id of whom they work for, whether or not that has an actor. */
  readonly workers: Map<string, Entry[]>;
};

export const createRegister = (): Register => ({ actors: new Map(), workers: new Map() });

export const add = ({ actors, workers }: Register, entry: Entry): void => {
  actors.set(entry.id, entry);
  if (entry.parent === null) return;
  const others = workers.get(entry.parent);
  if (others) others.push(entry);
  else workers.set(entry.parent, [entry]);
};

export const remove = ({ actors, workers }: Register, entry: Entry): void => {
  actors.delete(entry.id);
  const others = entry.parent === null ? undefined : workers.get(entry.parent);
  if (entry.parent === null || !others) return;
  if (others.length === 1) workers.delete(entry.parent);
  else others.splice(others.indexOf(entry), 1);
};

/** The first ones behind a serial number, and whether there are more. */
export const take = (
  register: Register,
  filter: ActorFilter,
  after: number,
  limit: number,
): { entries: Entry[]; more: boolean } => {
  const entries: Entry[] = [];
  for (const entry of candidates(register, filter)) {
    if (entry.serial <= after || !isWanted(register, filter, entry) || !isInState(filter, entry)) continue;
    if (entries.length === limit) return { entries, more: true };
    entries.push(entry);
  }
  return { entries, more: false };
};

/** How many of the actors that are wanted are in each of these states. One look at each actor, for all of them. */
export const count = (
  register: Register,
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
export const isWanted = (register: Register, { machine, thread, run }: ActorFilter, entry: Entry): boolean =>
  (machine === undefined || entry.machine === machine) &&
  (thread === undefined || worksFor(register, entry, actorId('thread', thread))) &&
  (run === undefined || worksFor(register, entry, actorId('run', run)));

const isInState = ({ state }: ActorFilter, { nodes }: Entry): boolean => state === undefined || state(nodes);

export const actorId = (machine: MachineName, id: string): string => `${machine}:${id}`;

/** In the order of their serial numbers. */
const candidates = (register: Register, { thread, run }: ActorFilter): Iterable<Entry> => {
  const root = run === undefined ? thread && actorId('thread', thread) : actorId('run', run);
  if (root === undefined) return register.actors.values();
  return [...familyOf(register, root)].sort((one, other) => one.serial - other.serial);
};

function* familyOf(register: Register, id: string): Generator<Entry> {
  const head = register.actors.get(id);
  if (head) yield head;
  for (const worker of register.workers.get(id) ?? []) yield* familyOf(register, worker.id);
}

/** It is the actor of this id, or works for it, directly or not. */
const worksFor = ({ actors }: Register, entry: Entry, id: string): boolean => {
  let each: Entry | undefined = entry;
  while (each && each.id !== id && each.parent !== id) {
    each = each.parent === null ? undefined : actors.get(each.parent);
  }
  return each !== undefined;
};

/** As its snapshot has it, or as one does that it is about to have. */
export const liveActor = (
  { workers }: Register,
  { id, machine, parent, since, actor }: Entry,
  snapshot = snapshotOf(actor),
  entered = since,
): LiveActor => ({
  id,
  machine,
  state: stateOf(snapshot),
  tags: [...snapshot.tags],
  since: entered,
  parent,
  children: (workers.get(id) ?? []).map((worker) => worker.id),
  at_rest: false,
});
