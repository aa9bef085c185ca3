import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { Clock } from '../schema/clock.ts';
import type { LiveActor } from '../schema/live-actor.ts';
import { type ActorReader, type Audience, createAudience, join, tellBeginning, tellEnd } from './audience.ts';
import type { ActorFilter } from './filter.ts';
import type { ActorName } from './name.ts';
import { actorId, add, count, createRegister, type Entry, liveActor, remove, take } from './register.ts';
import { ofThisProcess, snapshotOf } from './watch.ts';

/**
 * Which actors live, and every transition that they take, for those who may see the scope.
 *
 * Guarantees: an id names one actor at a time: when a newer one takes it, the older one has ended. What a list says
 * is in `register.ts`, what a follower is told in `audience.ts`.
 * Relies on being told of every actor.
 * Costs, while nobody follows: a subscription for each actor and a comparison for each of its transitions.
 */

export type ActorPage = {
  items: LiveActor[];
  /** Of the last item: where the next page begins. */
  at: number;
  more: boolean;
};

export type Inspector = {
  /** What it returns is to be called when the actor is gone. */
  began(actor: AnyActorRef, name: ActorName): () => void;
  /** Live actors behind this place, in the order in which they began; 0 is the beginning. */
  list(scope: string, filter: ActorFilter, after: number, limit: number): ActorPage;
  /** How many of the actors that are wanted, whatever the filter says of states, are in each of these. */
  count(scope: string, filter: ActorFilter, states: readonly ActorFilter['state'][]): number[];
  hasRun(scope: string, run_id: string): boolean;
  /** The first live actors are written when this returns. Returns what takes the follower off again. */
  follow(scope: string, filter: ActorFilter, reader: ActorReader): () => void;
};

export const createInspector = ({ clock }: { clock: Clock }): Inspector => {
  const scopes = new Map<string, Audience>();
  let serial = firstSerial(clock);

  const placeOf = (scope: string): Audience => {
    const place = scopes.get(scope) ?? createAudience(createRegister(ofThisProcess), clock);
    scopes.set(scope, place);
    return place;
  };

  const dropIfEmpty = (scope: string, place: Audience): void => {
    const empty = place.register.actors.size === 0 && place.watchers.size === 0;
    // An actor whose id was taken may end late, when the scope has another place.
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
      tellBeginning(place, entry);
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

/** Above all that an earlier process can have given out: nobody makes a million actors a second. */
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

const end = (place: Audience, entry: Entry): void => {
  remove(place.register, entry);
  tellEnd(place, entry);
};
