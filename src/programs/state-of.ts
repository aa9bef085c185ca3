import { nameInPath } from '../diagrams/naming.ts';
import { LIMITS } from './limits.ts';
import type { Snapshot } from './message.ts';

/** Derives the state of an actor of another program from its snapshot. */

/** Paths of the innermost states; undefined for an invalid or excessive value. */
const pathsOf = (value: unknown, parents: readonly string[]): string[] | undefined => {
  if (parents.length > LIMITS.depth) return undefined;
  if (typeof value === 'string') return [[...parents, nameInPath(value)].join('.')];
  if (typeof value !== 'object' || value === null) return undefined;
  const regions = Object.entries(value);
  if (regions.length === 0) return parents.length === 0 ? [] : [parents.join('.')];
  if (regions.length > LIMITS.states) return undefined;
  const paths: string[] = [];
  for (const [name, inner] of regions) {
    const found = pathsOf(inner, [...parents, nameInPath(name)]);
    if (!found || paths.length + found.length > LIMITS.states) return undefined;
    paths.push(...found);
  }
  return paths;
};

/** The reported status: `active`, `done`, `error` or `stopped`. */
export const statusOf = (snapshot: Snapshot): string => snapshot?.status ?? 'active';

/** Logic without states uses its status as the state. @returns undefined for an invalid value */
export const stateOf = (snapshot: Snapshot): string | undefined => {
  const value = snapshot?.value;
  if (value === undefined || value === null) return nameInPath(statusOf(snapshot).slice(0, LIMITS.name));
  const state = pathsOf(value, [])?.join(' ');
  return state === undefined || state.length > LIMITS.state ? undefined : state;
};
