import type { ActorAdapter, TakenTransition } from '../inspection/actor-adapter.ts';
import type { ForeignMachine } from './definition.ts';

/** An actor of another program, as far as the program reports it. */

export type Place = { readonly state: string; readonly tags: readonly string[] };

export type ForeignActor = {
  readonly machine: ForeignMachine | undefined;
  place: Place;
  /** Undefined while no reader watches the actor. */
  onTransition: ((transition: TakenTransition, from: Place, to: Place) => void) | undefined;
};

/** Parallel regions are in document order. */
export const placeIn = (machine: ForeignMachine | undefined, state: string): Place => {
  if (!machine) return { state, tags: [] };
  const { nodes } = machine;
  const order = (path: string): number => nodes.get(path)?.order ?? 0;
  // Clients may sort the regions when they serialize a snapshot.
  const paths = state.split(' ').sort((one, other) => order(one) - order(other));
  const tags = new Set<string>();
  for (const path of paths) {
    for (let node = nodes.get(path); node; node = node.parent) for (const tag of node.tags) tags.add(tag);
  }
  return { state: paths.join(' '), tags: [...tags] };
};

export const ofOtherPrograms: ActorAdapter<ForeignActor, Place> = {
  placeOf: ({ place }) => place,
  stateOf: ({ state }) => state,
  tagsOf: ({ tags }) => tags,
  // Actors are filtered by program and machine only.
  nodesOf: () => [],
  watch(actor, onTransition) {
    actor.onTransition = onTransition;
    return () => {
      actor.onTransition = undefined;
    };
  },
};
