import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { Clock } from '../schema/clock.ts';
import type { ActorFrame } from '../schema/live-actor.ts';
import type { ActorFilter } from './filter.ts';
import { type Entry, isWanted, liveActor, type Register, take } from './register.ts';
import type { Taken } from './sight.ts';

/**
 * Those who watch the live actors of one scope, or of other programs, each through a filter and at the pace of its own socket.
 *
 * Guarantees: a watcher is told of the actors that live, a piece a turn, and of everything that happens to those that
 * it was told of, in the order of what each did. What happens while its socket takes nothing is not kept: of an actor
 * that it knows only that there is news, which is then told as the state of that moment, or as the end; of others
 * nothing, they come when it goes on with the list of actors. So a watcher costs one small entry for each actor that
 * it knows and has missed something of, however long it takes nothing and whatever happens meanwhile.
 * With a state in its filter it is told of the transitions into such states and out of them, and of actors as they
 * come in.
 * Relies on readers that take text and return.
 * Costs, while nobody watches, nothing; an XState inspector is only on actors that somebody's filter lets through. A
 * frame is encoded once, however many watch.
 */

/** Where frames go; an event stream of `src/http` is one. Never blocks. */
export type ActorReader = {
  /** Takes whole SSE frames. */
  write(frames: string, count: number): void;
  /** Takes nothing now; `onDrain` tells when it does. */
  readonly stalled: boolean;
  onDrain(listener: () => void): void;
};

type Watcher<Actor> = {
  readonly filter: ActorFilter;
  readonly reader: ActorReader;
  /** It knows the live actors up to this serial number that its filter lets through. */
  at: number;
  /** There may be some behind that. */
  isBehind: boolean;
  /** Of actors that it knows and whose news it has not had: those that live, and the ends of the others. */
  readonly missed: Map<number, Entry<Actor> | ActorFrame>;
  /** Its next piece comes in the next turn. */
  isDue: boolean;
  isGone: boolean;
};

export type Audience<Actor = AnyActorRef, Place = AnyMachineSnapshot> = {
  readonly register: Register<Actor, Place>;
  readonly clock: Clock;
  readonly watchers: Set<Watcher<Actor>>;
};

export const createAudience = <Actor, Place>(
  register: Register<Actor, Place>,
  clock: Clock,
): Audience<Actor, Place> => ({
  register,
  clock,
  watchers: new Set(),
});

/** The most actors that one watcher is told of, or that are looked at for it, in one turn of the event loop. */
const ACTORS_A_TURN = 256;

/** The first piece is written when this returns. Returns what takes the watcher off again. */
export const join = <Actor, Place>(
  audience: Audience<Actor, Place>,
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
    if (!watcher.isDue) tellPiece(audience, watcher);
  });
  tellPiece(audience, watcher);
  return () => leave(audience, watcher);
};

const leave = <Actor, Place>(
  { register, watchers }: Audience<Actor, Place>,
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

/** What it has missed, then what it does not know. */
const tellPiece = <Actor, Place>(audience: Audience<Actor, Place>, watcher: Watcher<Actor>): void => {
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
  setImmediate(tellPiece<Actor, Place>, audience, watcher);
};

const nextActors = <Actor, Place>(
  audience: Audience<Actor, Place>,
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

const watch = <Actor, Place>(audience: Audience<Actor, Place>, entry: Entry<Actor>): void => {
  entry.unwatch ??= audience.register.sight.watch(entry.actor, (taken, from, to) =>
    tellTransition(audience, entry, { taken, from, to }),
  );
};

/** An actor is in the register. */
export const tellBeginning = <Actor, Place>(audience: Audience<Actor, Place>, entry: Entry<Actor>): void => {
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

type Step<Place> = { taken: Taken; from: Place; to: Place };

const tellTransition = <Actor, Place>(
  audience: Audience<Actor, Place>,
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

/** An actor has left the register. */
export const tellEnd = <Actor, Place>(
  { register, clock, watchers }: Audience<Actor, Place>,
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
    // Of one that has left the states of the filter it was told so, unless that is what it has missed.
    if (state && !state(nodesOf(last)) && !watcher.missed.has(entry.serial)) continue;
    if (hasToWait(watcher, entry)) watcher.missed.set(entry.serial, frame);
    else watcher.reader.write(text(), 1);
  }
};

const knows = <Actor, Place>(
  register: Register<Actor, Place>,
  { at, filter }: Watcher<Actor>,
  entry: Entry<Actor>,
): boolean => entry.serial <= at && isWanted(register, filter, entry);

/** News of one actor never overtake each other. */
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
