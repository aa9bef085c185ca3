import type { MachineDescription, StateDescription } from './description.ts';

/** States in states, by their paths. The machine itself is null. */

export type States = Pick<MachineDescription, 'states'>;

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

export const isInside = (path: string, region: string | null): boolean =>
  region === null || path.startsWith(`${region}.`);

export const childrenOf = ({ states }: States, parent: string | null): StateDescription[] =>
  states.filter((state) => state.parent === parent);

/** The innermost state around all of these. */
export const around = ([first, ...others]: readonly string[]): string | null => {
  const names = first?.split('.').slice(0, -1) ?? [];
  while (names.length && !others.every((path) => isInside(path, names.join('.')))) names.pop();
  return names.length ? names.join('.') : null;
};

/** Do these make up every state of the region in which something can still happen? */
export const isEvery = (machine: States, region: string | null, paths: ReadonlySet<string>): boolean =>
  childrenOf(machine, region)
    .filter(({ type }) => type !== 'final')
    .every(({ path, type }) => paths.has(path) || (type === 'compound' && isEvery(machine, path, paths)));

/** The state that stands for this one where some are folded: the outermost folded one around it, or itself. */
export const shownAs = (path: string, folded: ReadonlySet<string>): string => {
  const names = path.split('.');
  const outwards = names.map((_, index) => names.slice(0, index + 1).join('.'));
  return outwards.find((each) => folded.has(each)) ?? path;
};
