import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { MachineName } from '../../machines/index.ts';
import type { Clock } from '../schema/clock.ts';
import type { ActorFrame, LiveActor } from './actor.ts';
import { snapshotOf, stateOf, watchTransitions } from './watch.ts';

/**
 * Which actors live, and every transition that they take, for those who may see the scope.
 *
 * Guarantees: a follower first gets one frame for each live actor and then everything that happens to them, with
 * nothing missing or twice in between; the frames of one actor come in the order of what it did. An id names one
 * actor at a time: when a newer one takes it, the older one has ended.
 * Relies on being told of every actor, and on followers that take text and return.
 * Costs, while nobody follows: a subscription for each actor and a comparison for each of its transitions.
 * An XState inspector is on an actor only as long as its scope has a follower.
 */

type ActorName = { machine: MachineName; id: string; scope: string; parent?: string };

/** Takes whole SSE frames. */
type Follower = { write(frames: string, count: number): void };

export type Inspector = {
  /** What it returns is to be called when the actor is gone. */
  began(actor: AnyActorRef, name: ActorName): () => void;
  list(scope: string): LiveActor[];
  /** The follower has the live actors when this returns. Returns what takes it off again. */
  follow(scope: string, follower: Follower): () => void;
};

type Entry = {
  id: string;
  machine: MachineName;
  parent: string | null;
  actor: AnyActorRef;
  /** The states that it is in. XState makes a new list when one is entered or left, and only then. */
  nodes: AnyMachineSnapshot['_nodes'];
  since: number;
  /** Undefined while nobody follows. */
  unwatch: (() => void) | undefined;
};

/** What belongs to one scope. */
type Place = { actors: Map<string, Entry>; followers: Set<Follower> };

export const createInspector = ({ clock }: { clock: Clock }): Inspector => {
  const places = new Map<string, Place>();

  const placeOf = (scope: string): Place => {
    const place = places.get(scope) ?? { actors: new Map(), followers: new Set() };
    places.set(scope, place);
    return place;
  };

  const dropIfEmpty = (scope: string, place: Place): void => {
    const empty = place.actors.size === 0 && place.followers.size === 0;
    // An actor whose id was taken may end late, when the scope has another place.
    if (empty && places.get(scope) === place) places.delete(scope);
  };

  const watch = (place: Place, entry: Entry): void => {
    const { id: actor, machine } = entry;
    entry.unwatch = watchTransitions(entry.actor, ({ id: transition, event }, from, to) => {
      tell(place, { type: 'transition', actor, machine, from, event, to, transition, time: clock.now() });
    });
  };

  const end = (place: Place, entry: Entry): void => {
    place.actors.delete(entry.id);
    unwatch(entry);
    if (place.followers.size === 0) return;
    const { id: actor, machine } = entry;
    const state = stateOf(snapshotOf(entry.actor));
    tell(place, { type: 'ended', actor, machine, state, time: clock.now() });
  };

  return {
    began(actor, name) {
      const { scope } = name;
      const place = placeOf(scope);
      const entry = newEntry(actor, name, clock.now());
      const older = place.actors.get(entry.id);
      if (older) end(place, older);
      place.actors.set(entry.id, entry);
      const noted = noteChanges(entry, clock);
      if (place.followers.size > 0) {
        tell(place, { type: 'began', ...liveActor(entry, childrenIn(place)) });
        watch(place, entry);
      }
      return () => {
        noted.unsubscribe();
        if (place.actors.get(entry.id) === entry) end(place, entry);
        dropIfEmpty(scope, place);
      };
    },
    list(scope) {
      const place = places.get(scope);
      return place ? liveActors(place) : [];
    },
    follow(scope, follower) {
      const place = placeOf(scope);
      if (place.followers.size === 0) for (const entry of place.actors.values()) watch(place, entry);
      place.followers.add(follower);
      const frames = liveActors(place).map((actor) => frameOf({ type: 'actor', ...actor }));
      if (frames.length > 0) follower.write(frames.join(''), frames.length);
      return () => {
        place.followers.delete(follower);
        if (place.followers.size === 0) for (const entry of place.actors.values()) unwatch(entry);
        dropIfEmpty(scope, place);
      };
    },
  };
};

/** What kind of actor the `parent` in a name is. */
const PARENTS: Partial<Record<MachineName, MachineName>> = { run: 'thread', 'remote-task': 'run' };

const newEntry = (actor: AnyActorRef, { machine, id, parent }: ActorName, since: number): Entry => {
  const parents = PARENTS[machine];
  return {
    id: `${machine}:${id}`,
    machine,
    parent: parents && parent !== undefined ? `${parents}:${parent}` : null,
    actor,
    nodes: snapshotOf(actor)._nodes,
    since,
    unwatch: undefined,
  };
};

/** Keeps `since` right. All that is done for an actor that nobody looks at. */
const noteChanges = (entry: Entry, clock: Clock): { unsubscribe(): void } =>
  entry.actor.subscribe({
    next({ _nodes }: AnyMachineSnapshot) {
      if (_nodes === entry.nodes) return;
      entry.nodes = _nodes;
      entry.since = clock.now();
    },
    // Errors are the runtime's; but XState calls one unhandled as soon as any subscriber has no listener for it.
    error() {},
  });

const unwatch = (entry: Entry): void => {
  entry.unwatch?.();
  entry.unwatch = undefined;
};

type Children = ReadonlyMap<string, readonly string[]>;

const childrenIn = ({ actors }: Place): Children => {
  const children = new Map<string, string[]>();
  for (const { id, parent } of actors.values()) {
    if (parent === null) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(id);
    else children.set(parent, [id]);
  }
  return children;
};

const liveActor = ({ id, machine, parent, since, actor }: Entry, children: Children): LiveActor => {
  const snapshot = snapshotOf(actor);
  return {
    id,
    machine,
    state: stateOf(snapshot),
    tags: [...snapshot.tags],
    since,
    parent,
    children: [...(children.get(id) ?? [])],
  };
};

const liveActors = (place: Place): LiveActor[] => {
  const children = childrenIn(place);
  return [...place.actors.values()].map((entry) => liveActor(entry, children));
};

const frameOf = (frame: ActorFrame): string => `data: ${JSON.stringify(frame)}\n\n`;

/** Encoded once, however many follow. */
const tell = ({ followers }: Place, frame: ActorFrame): void => {
  if (followers.size === 0) return;
  const text = frameOf(frame);
  for (const follower of followers) follower.write(text, 1);
};
