import type { AnyMachineSnapshot } from 'xstate';
import type { TransitionDescription } from '../statecharts/description.ts';

/** How actors of one kind are looked at: those that live in this process, and those that other programs tell of. */

export type Nodes = AnyMachineSnapshot['_nodes'];

export type Taken = Pick<TransitionDescription, 'id' | 'event'>;

export type Sight<Actor, Place> = {
  /** Where it is now. */
  placeOf(actor: Actor): Place;
  /** Paths of the innermost states, in document order, with a space between. */
  stateOf(place: Place): string;
  tagsOf(place: Place): Iterable<string>;
  /** What filters by state look at. */
  nodesOf(place: Place): Nodes;
  /** Tells of every transition from now on, with the places before and after it. Returns what stops that. */
  watch(actor: Actor, taken: (transition: Taken, from: Place, to: Place) => void): () => void;
};
