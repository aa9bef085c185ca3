import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { Clock } from '../schema/clock.ts';
import type { LiveActor } from '../schema/live-actor.ts';
import { actorId, add, count, createRegister, type Entry, liveActor, remove, take } from './actor-index.ts';
import type { ActorFilter } from './filter.ts';
import type { ActorName } from './name.ts';
import {
  type ActorReader,
  createSubscribers,
  join,
  notifyEnd,
  notifyStart,
  type Subscribers,
} from './subscribers.ts';
import { ofThisProcess, snapshotOf } from './watch.ts';

/**
 * Lists the live actors, and reports every transition that they take, to clients with access to the scope.
 *
 * Guarantees: an id names one actor at a time: when a newer actor takes it, the older one has ended. Lists are in
 * `actor-index.ts`, notifications of followers in `subscribers.ts`.
 * Relies on being notified of every actor.
 * Cost, without followers: a subscription for each actor and a comparison for each of its transitions.
 */

export type ActorPage = {
  items: LiveActor[];
  /** Serial number of the last item, after which the next page starts. */
  at: number;
  more: boolean;
};

export type Inspector = {
  /** Adds an actor. The returned function must be called when the actor has ended. */
  began(actor: AnyActorRef, name: ActorName): () => void;
  /** Returns live actors after this serial number, in the order of their start; 0 is the beginning. */
  list(scope: string, filter: ActorFilter, after: number, limit: number): ActorPage;
  /** Counts the matching actors in each of these states; the state of the filter is ignored. */
  count(scope: string, filter: ActorFilter, states: readonly ActorFilter['state'][]): number[];
  hasRun(scope: string, run_id: string): boolean;
  /**
   * Adds a follower. The first live actors are written when this returns. The returned function removes the follower.
   */
  follow(scope: string, filter: ActorFilter, reader: ActorReader): () => void;
};

export const createInspector = ({ clock }: { clock: Clock }): Inspector => {
  const scopes = new Map<string, Subscribers>();
  let serial = firstSerial(clock);

  const placeOf = (scope: string): Subscribers => {
    const place = scopes.get(scope) ?? createSubscribers(createRegister(ofThisProcess), clock);
    scopes.set(scope, place);
    return place;
  };

  const dropIfEmpty = (scope: string, place: Subscribers): void => {
    const empty = place.register.actors.size === 0 && place.watchers.size === 0;
    // An actor whose id was taken may end late, when the scope has a new audience.
    if (empty && scopes.get(scope) === place) scopes.delete(scope);
  };

  return {
    began(actor, name) {
      const { scope } = name;
      const place = placeOf(scope);
      serial += 1;
      const entry = newEntry(actor, name, serial, clock.now());
      const older = place.register.actors.get(entry.id);
      if (older) end(place, older);
      add(place.register, entry);
      const noted = noteChanges(entry, clock);
      notifyStart(place, entry);
      return () => {
        noted.unsubscribe();
        if (place.register.actors.get(entry.id) === entry) end(place, entry);
        dropIfEmpty(scope, place);
      };
    },
    list(scope, filter, after, limit) {
      const register = scopes.get(scope)?.register;
      if (!register) return { items: [], at: after, more: false };
      const { entries, more } = take(register, filter, after, limit);
      const items = entries.map((entry) => liveActor(register, entry));
      return { items, at: entries.at(-1)?.serial ?? after, more };
    },
    count(scope, filter, states) {
      const register = scopes.get(scope)?.register;
      return register ? count(register, filter, states) : states.map(() => 0);
    },
    hasRun: (scope, run_id) => scopes.get(scope)?.register.actors.has(actorId('run', run_id)) ?? false,
    follow(scope, filter, reader) {
      const place = placeOf(scope);
      const leave = join(place, filter, reader);
      return () => {
        leave();
        dropIfEmpty(scope, place);
      };
    },
  };
};

/** Greater than all serial numbers of earlier processes, since no process starts a million actors per second. */
const firstSerial = (clock: Clock): number => clock.now() * 1000;

const newEntry = (
  actor: AnyActorRef,
  { machine, id, parent }: ActorName,
  serial: number,
  since: number,
): Entry => ({
  id: actorId(machine, id),
  machine,
  serial,
  parent: parent ?? null,
  actor,
  nodes: snapshotOf(actor)._nodes,
  since,
  unwatch: undefined,
});

/** Updates `since` on each transition. An actor that no client observes costs no more than this. */
const noteChanges = (entry: Entry, clock: Clock): { unsubscribe(): void } =>
  entry.actor.subscribe({
    next({ _nodes }: AnyMachineSnapshot) {
      if (_nodes === entry.nodes) return;
      entry.nodes = _nodes;
      entry.since = clock.now();
    },
    // The runtime handles errors. XState reports an error as unhandled when a subscriber has no listener for errors.
    error() {},
  });

const end = (place: Subscribers, entry: Entry): void => {
  remove(place.register, entry);
  notifyEnd(place, entry);
};
