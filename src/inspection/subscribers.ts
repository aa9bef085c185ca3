import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { Clock } from '../schema/clock.ts';
import type { ActorFrame } from '../schema/live-actor.ts';
import type { TakenTransition } from './actor-adapter.ts';
import { type ActorIndex, type Entry, isWanted, liveActor, take } from './actor-index.ts';
import type { ActorFilter } from './filter.ts';

/**
 * Reports the live actors of one scope, or of other programs, to watchers. Each watcher has a filter, and its socket
 * determines the speed of its reports.
 *
 * Guarantees: a watcher receives the live actors, a chunk per event-loop tick, and all changes of the reported ones, in
 * the order of each actor. Changes while its socket is stalled are not stored: for a reported actor, only the fact that
 * it changed is kept, and later sent as the current state or the end; unreported actors follow when the watcher
 * continues with the list. So a watcher costs one small entry for each reported actor with missed changes, regardless
 * of the duration of a stall and of the number of changes. A state in its filter limits reports to the transitions into
 * and out of such states, and to actors as they enter them.
 * Relies on readers that accept text and return.
 * Cost: nothing without watchers; an XState inspector is attached only to actors that match a filter. A frame is
 * encoded once, regardless of the number of watchers.
 */

/** The sink of frames, such as an event stream of `src/http`. Never blocks. */
export type ActorReader = {
  /** Accepts whole SSE frames. */
  write(frames: string, count: number): void;
  /** Whether the socket accepts no data at present; `onDrain` reports when it accepts data again. */
  readonly stalled: boolean;
  onDrain(listener: () => void): void;
};

type Watcher<Actor> = {
  readonly filter: ActorFilter;
  readonly reader: ActorReader;
  /** Serial number of the last reported actor: all earlier ones that match the filter were reported too. */
  at: number;
  /** Whether there may be unreported actors after `at`. */
  isBehind: boolean;
  /** Reported actors with missed changes: entries of live actors, and end frames of ended ones. */
  readonly missed: Map<number, Entry<Actor> | ActorFrame>;
  /** Whether the next chunk is scheduled. */
  isDue: boolean;
  isGone: boolean;
};

export type Subscribers<Actor = AnyActorRef, Place = AnyMachineSnapshot> = {
  readonly register: ActorIndex<Actor, Place>;
  readonly clock: Clock;
  readonly watchers: Set<Watcher<Actor>>;
};

export const createSubscribers = <Actor, Place>(
  register: ActorIndex<Actor, Place>,
  clock: Clock,
): Subscribers<Actor, Place> => ({
  register,
  clock,
  watchers: new Set(),
});

/** Maximum number of actors reported to one watcher, or checked for it, per event-loop tick. */
const ACTORS_A_TURN = 256;

/** Adds a watcher. The first chunk is written when this returns. The returned function removes the watcher. */
export const join = <Actor, Place>(
  audience: Subscribers<Actor, Place>,
  filter: ActorFilter,
  reader: ActorReader,
): (() => void) => {
  const watcher: Watcher<Actor> = {
    filter,
    reader,
    at: -1,
    isBehind: true,
    missed: new Map(),
    isDue: false,
    isGone: false,
  };
  audience.watchers.add(watcher);
  reader.onDrain(() => {
    if (!watcher.isDue) writeChunk(audience, watcher);
  });
  writeChunk(audience, watcher);
  return () => leave(audience, watcher);
};

const leave = <Actor, Place>(
  { register, watchers }: Subscribers<Actor, Place>,
  watcher: Watcher<Actor>,
): void => {
  watcher.isGone = true;
  watcher.missed.clear();
  watchers.delete(watcher);
  const others = [...watchers];
  for (const entry of register.actors.values()) {
    if (entry.unwatch && !others.some(({ filter }) => isWanted(register, filter, entry))) unwatch(entry);
  }
};

const unwatch = (entry: Pick<Entry, 'unwatch'>): void => {
  entry.unwatch?.();
  entry.unwatch = undefined;
};

/** Writes missed changes first, then unreported actors. */
const writeChunk = <Actor, Place>(audience: Subscribers<Actor, Place>, watcher: Watcher<Actor>): void => {
  const { reader, missed } = watcher;
  watcher.isDue = false;
  if (watcher.isGone || reader.stalled) return;
  const frames: string[] = [];
  for (const [serial, news] of missed) {
    if (frames.length === ACTORS_A_TURN) break;
    missed.delete(serial);
    frames.push(frameOf('type' in news ? news : { type: 'actor', ...liveActor(audience.register, news) }));
  }
  if (watcher.isBehind) frames.push(...nextActors(audience, watcher, ACTORS_A_TURN - frames.length));
  if (frames.length > 0) reader.write(frames.join(''), frames.length);
  if (missed.size === 0 && !watcher.isBehind) return;
  watcher.isDue = true;
  setImmediate(writeChunk<Actor, Place>, audience, watcher);
};

const nextActors = <Actor, Place>(
  audience: Subscribers<Actor, Place>,
  watcher: Watcher<Actor>,
  most: number,
): string[] => {
  const { register } = audience;
  const { state, ...filter } = watcher.filter;
  const { entries, more } = take(register, filter, watcher.at, most);
  watcher.isBehind = more;
  watcher.at = entries.at(-1)?.serial ?? watcher.at;
  for (const entry of entries) watch(audience, entry);
  return entries
    .filter(({ nodes }) => state === undefined || state(nodes))
    .map((entry) => frameOf({ type: 'actor', ...liveActor(register, entry) }));
};

const watch = <Actor, Place>(audience: Subscribers<Actor, Place>, entry: Entry<Actor>): void => {
  entry.unwatch ??= audience.register.sight.watch(entry.actor, (taken, from, to) =>
    notifyTransition(audience, entry, { taken, from, to }),
  );
};

/** Called when an actor was added to the register. */
export const notifyStart = <Actor, Place>(audience: Subscribers<Actor, Place>, entry: Entry<Actor>): void => {
  const { register, watchers } = audience;
  if (watchers.size === 0) return;
  const text = encodedOnce(() => ({ type: 'began', ...liveActor(register, entry) }));
  for (const watcher of watchers) {
    const { filter, reader } = watcher;
    if (!isWanted(register, filter, entry)) continue;
    if (reader.stalled || watcher.isBehind) {
      watcher.isBehind = true;
      continue;
    }
    watcher.at = entry.serial;
    watch(audience, entry);
    if (filter.state === undefined || filter.state(entry.nodes)) reader.write(text(), 1);
  }
};

type Step<Place> = { taken: TakenTransition; from: Place; to: Place };

const notifyTransition = <Actor, Place>(
  audience: Subscribers<Actor, Place>,
  entry: Entry<Actor>,
  { taken, from, to }: Step<Place>,
): void => {
  const { register, clock, watchers } = audience;
  const { stateOf, nodesOf } = register.sight;
  const text = encodedOnce(() => ({
    type: 'transition',
    actor: entry.id,
    machine: entry.machine,
    from: stateOf(from),
    event: taken.event,
    to: stateOf(to),
    transition: taken.id,
    time: clock.now(),
  }));
  for (const watcher of watchers) {
    const { state } = watcher.filter;
    const was = state === undefined || state(nodesOf(from));
    const is = state === undefined || state(nodesOf(to));
    if ((!was && !is) || !knows(register, watcher, entry)) continue;
    if (hasToWait(watcher, entry)) {
      watcher.missed.set(entry.serial, entry);
      continue;
    }
    watcher.reader.write(text(), 1);
    if (was) continue;
    const come = liveActor(register, entry, to, clock.now());
    watcher.reader.write(frameOf({ type: 'actor', ...come }), 1);
  }
};

/** Called when an actor was removed from the register. */
export const notifyEnd = <Actor, Place>(
  { register, clock, watchers }: Subscribers<Actor, Place>,
  entry: Entry<Actor>,
): void => {
  unwatch(entry);
  if (watchers.size === 0) return;
  const { id: actor, machine } = entry;
  const { placeOf, stateOf, nodesOf } = register.sight;
  const last = placeOf(entry.actor);
  const frame: ActorFrame = { type: 'ended', actor, machine, state: stateOf(last), time: clock.now() };
  const text = encodedOnce(() => frame);
  for (const watcher of watchers) {
    if (!knows(register, watcher, entry)) continue;
    const { state } = watcher.filter;
    // The watcher already received the transition out of the states of its filter, unless it missed that transition.
    if (state && !state(nodesOf(last)) && !watcher.missed.has(entry.serial)) continue;
    if (hasToWait(watcher, entry)) watcher.missed.set(entry.serial, frame);
    else watcher.reader.write(text(), 1);
  }
};

const knows = <Actor, Place>(
  register: ActorIndex<Actor, Place>,
  { at, filter }: Watcher<Actor>,
  entry: Entry<Actor>,
): boolean => entry.serial <= at && isWanted(register, filter, entry);

/** Keeps the changes of one actor in order. */
const hasToWait = <Actor>({ reader, missed }: Watcher<Actor>, { serial }: Entry<Actor>): boolean =>
  reader.stalled || missed.has(serial);

const frameOf = (frame: ActorFrame): string => `data: ${JSON.stringify(frame)}\n\n`;

const encodedOnce = (frame: () => ActorFrame): (() => string) => {
  let text: string | undefined;
  return () => {
    text ??= frameOf(frame());
    return text;
  };
};
