import distance, { closestMatch } from 'leven';

/** So much of a name may be wrong before it no longer suggests another. */
const SHARE = 0.4;

/** Longer texts are no names. */
const LONGEST = 64;

/** The name that was probably meant, of those that there are. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > LONGEST || names.length === 0) return undefined;
  const longer = names.filter((known) => hasWords(known, name));
  if (longer.length > 0) return closestMatch(name, longer);
  const best = closestMatch(
    name.toLowerCase(),
    names.map((known) => known.toLowerCase()),
  );
  if (best === undefined || distance(name.toLowerCase(), best) > SHARE * Math.max(name.length, best.length))
    return undefined;
  return names.find((known) => known.toLowerCase() === best);
};

/** Only a word is missing in the name: `cors_origins` of `admin_cors_origins`. */
const hasWords = (known: string, name: string): boolean => {
  const [words, given] = [wordsOf(known), wordsOf(name)];
  return given.length > 1 && given.every((word) => words.includes(word));
};

const wordsOf = (name: string): string[] => name.toLowerCase().split(/[^a-z0-9]+/);

/** `; did you mean 'x'? (<what>: …)`, the end of a text about a name that nobody has. */
export const hintOf = (name: string, what: string, names: readonly string[]): string => {
  const meant = nearest(name, names);
  return `${meant === undefined ? '' : `; did you mean '${meant}'?`} (${what}: ${names.join(', ')})`;
};
