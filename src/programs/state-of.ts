import { nameInPath } from '../statecharts/naming.ts';
import { LIMITS } from './limits.ts';
import type { Snapshot } from './message.ts';

/** Where an actor of another program is, as its snapshot has it. */

/** Paths of the innermost states; undefined for what is no value of a state, or a monstrous one. */
const pathsOf = (value: unknown, around: readonly string[]): string[] | undefined => {
  if (around.length > LIMITS.depth) return undefined;
  if (typeof value === 'string') return [[...around, nameInPath(value)].join('.')];
  if (typeof value !== 'object' || value === null) return undefined;
  const regions = Object.entries(value);
  if (regions.length === 0) return around.length === 0 ? [] : [around.join('.')];
  if (regions.length > LIMITS.states) return undefined;
  const paths: string[] = [];
  for (const [name, inner] of regions) {
    const found = pathsOf(inner, [...around, nameInPath(name)]);
    if (!found || paths.length + found.length > LIMITS.states) return undefined;
    paths.push(...found);
  }
  return paths;
};

/** `active`, `done`, `error` or `stopped`, as the program says. */
export const statusOf = (snapshot: Snapshot): string => snapshot?.status ?? 'active';

/** What has no states is in that of its status. @returns undefined for what cannot be */
export const stateOf = (snapshot: Snapshot): string | undefined => {
  const value = snapshot?.value;
  if (value === undefined || value === null) return nameInPath(statusOf(snapshot).slice(0, LIMITS.name));
  const state = pathsOf(value, [])?.join(' ');
  return state === undefined || state.length > LIMITS.state ? undefined : state;
};
