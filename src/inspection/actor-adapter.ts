import type { AnyMachineSnapshot } from 'xstate';
import type { TransitionDescription } from '../diagrams/description.ts';

/** Adapter for reading actors of one kind: those of this process, and those reported by other programs. */

export type Nodes = AnyMachineSnapshot['_nodes'];

export type TakenTransition = Pick<TransitionDescription, 'id' | 'event'>;

export type ActorAdapter<Actor, Place> = {
  /** Returns the current state. */
  placeOf(actor: Actor): Place;
  /** Paths of the innermost states, in document order, separated by spaces. */
  stateOf(place: Place): string;
  tagsOf(place: Place): Iterable<string>;
  /** Returns the nodes that state filters check. */
  nodesOf(place: Place): Nodes;
  /**
   * Reports every transition from now on, with the states before and after it. The returned function stops the reports.
   */
  watch(actor: Actor, taken: (transition: TakenTransition, from: Place, to: Place) => void): () => void;
};
