import type { MachineDescription, StateDescription } from './description.ts';

/** Nesting of states by their paths. The machine itself is null. */

export type States = Pick<MachineDescription, 'states'>;

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

export const isInside = (path: string, region: string | null): boolean =>
  region === null || path.startsWith(`${region}.`);

export const childrenOf = ({ states }: States, parent: string | null): StateDescription[] =>
  states.filter((state) => state.parent === parent);

/** Returns the innermost state around all of these. */
export const commonParent = ([first, ...others]: readonly string[]): string | null => {
  const names = first?.split('.').slice(0, -1) ?? [];
  while (names.length && !others.every((path) => isInside(path, names.join('.')))) names.pop();
  return names.length ? names.join('.') : null;
};

/** Whether these are all states of the region in which an event can still occur. */
export const isEvery = (machine: States, region: string | null, paths: ReadonlySet<string>): boolean =>
  childrenOf(machine, region)
    .filter(({ type }) => type !== 'final')
    .every(({ path, type }) => paths.has(path) || (type === 'compound' && isEvery(machine, path, paths)));

/** Returns the visible state that contains this one: the outermost folded one around it, or the state itself. */
export const shownAs = (path: string, folded: ReadonlySet<string>): string => {
  const names = path.split('.');
  const outwards = names.map((_, index) => names.slice(0, index + 1).join('.'));
  return outwards.find((each) => folded.has(each)) ?? path;
};
