import { NotFound } from '../schema/outcome.ts';
import type { MachineDescription } from './description.ts';
import { activitiesOf, pictureOf } from './diagram.ts';
import { childrenOf } from './nesting.ts';

/**
 * Selects the folded states of a picture: a state with states inside becomes one box with their number in it, and a
 * state that takes many events without being left lists only the first of them.
 */

/** Named states, states below a depth, states chosen by the size of the machine, or none. */
export type Fold = { states: readonly string[] } | { depth: number } | 'large' | 'nothing';

/** Pictures with more arrows are hard to read. */
const MOST_ARROWS = 42;

/** More lines in a state hide the arrows between states. */
const MOST_LINES = 8;

const depthOf = (path: string): number => path.split('.').length;

const regionsAt = (machine: MachineDescription, depth: number): string[] =>
  machine.states
    .map(({ path }) => path)
    .filter((path) => depthOf(path) === depth && childrenOf(machine, path).length > 0);

const longIn = (machine: MachineDescription): string[] =>
  machine.states
    .filter((state) => !childrenOf(machine, state.path).length)
    .filter((state) => activitiesOf(machine, state).length > MOST_LINES)
    .map(({ path }) => path);

/** Folds the fewest levels with which the picture stays readable; one level always stays open. */
const foldLarge = (machine: MachineDescription): Set<string> => {
  const long = longIn(machine);
  let depth = Math.max(1, ...machine.states.map(({ path }) => depthOf(path)));
  const folded = (): Set<string> => new Set([...long, ...regionsAt(machine, depth)]);
  while (depth > 1 && pictureOf(machine, folded()).arrows.length > MOST_ARROWS) depth -= 1;
  return folded();
};

/** @throws NotFound for a state that the machine does not have */
export const known = ({ name, states }: MachineDescription, path: string): string => {
  if (states.some((state) => state.path === path)) return path;
  throw new NotFound(
    `unknown state '${path}' of '${name}': one of ${states.map((state) => state.path).join(', ')}`,
  );
};

/** @throws NotFound for a state that the machine does not have */
export const foldedIn = (machine: MachineDescription, fold: Fold): ReadonlySet<string> => {
  if (fold === 'nothing') return new Set();
  if (fold === 'large') return foldLarge(machine);
  if ('depth' in fold) return new Set(regionsAt(machine, fold.depth));
  return new Set(fold.states.map((path) => known(machine, path)));
};
