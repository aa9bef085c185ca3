import type { Sight, Taken } from '../inspection/sight.ts';
import type { ForeignMachine } from './definition.ts';

/** An actor of another program, as far as that tells of it. */

export type Place = { readonly state: string; readonly tags: readonly string[] };

export type ForeignActor = {
  readonly machine: ForeignMachine | undefined;
  place: Place;
  /** Undefined while nobody watches it. */
  told: ((transition: Taken, from: Place, to: Place) => void) | undefined;
};

/** Of parallel regions in document order. */
export const placeIn = (machine: ForeignMachine | undefined, state: string): Place => {
  if (!machine) return { state, tags: [] };
  const { nodes } = machine;
  const order = (path: string): number => nodes.get(path)?.order ?? 0;
  // Clients may sort what they write.
  const paths = state.split(' ').sort((one, other) => order(one) - order(other));
  const tags = new Set<string>();
  for (const path of paths) {
    for (let node = nodes.get(path); node; node = node.parent) for (const tag of node.tags) tags.add(tag);
  }
  return { state: paths.join(' '), tags: [...tags] };
};

export const ofOtherPrograms: Sight<ForeignActor, Place> = {
  placeOf: ({ place }) => place,
  stateOf: ({ state }) => state,
  tagsOf: ({ tags }) => tags,
  // They are chosen by program and machine only.
  nodesOf: () => [],
  watch(actor, told) {
    actor.told = told;
    return () => {
      actor.told = undefined;
    };
  },
};
