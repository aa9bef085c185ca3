import { closest, distance } from 'fastest-levenshtein';

/** So much of a name may be wrong before it no longer suggests another. */
const SHARE = 0.4;

/** Longer texts are no names. */
const LONGEST = 64;

/** The name that was probably meant, of those that there are. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > LONGEST || names.length === 0) return undefined;
  const best = closest(
    name.toLowerCase(),
    names.map((known) => known.toLowerCase()),
  );
  if (distance(name.toLowerCase(), best) > SHARE * Math.max(name.length, best.length)) return undefined;
  return names.find((known) => known.toLowerCase() === best);
};

/** `; did you mean 'x'? (<what>: …)`, the end of a text about a name that nobody has. */
export const hintOf = (name: string, what: string, names: readonly string[]): string => {
  const meant = nearest(name, names);
  return `${meant === undefined ? '' : `; did you mean '${meant}'?`} (${what}: ${names.join(', ')})`;
};
