import { closest, distance } from 'fastest-levenshtein';

/** So much of a name may be wrong before it no longer suggests another. */
const SHARE = 0.4;

/** The name that was probably meant. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  const best = closest(name, names);
  return distance(name, best) <= SHARE * Math.max(name.length, best.length) ? best : undefined;
};
