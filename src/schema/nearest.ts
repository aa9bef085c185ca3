import distance, { closestMatch } from 'leven';

/** Maximum share of a name that may differ from a suggestion. */
const SHARE = 0.4;

/** Longer texts are not names. */
const LONGEST = 64;

/** Returns the name that was probably meant. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > LONGEST || names.length === 0) return undefined;
  const longer = names.filter((known) => containsWords(known, name));
  if (longer.length > 0) return closestMatch(name, longer);
  const best = closestMatch(
    name.toLowerCase(),
    names.map((known) => known.toLowerCase()),
  );
  if (best === undefined || distance(name.toLowerCase(), best) > SHARE * Math.max(name.length, best.length))
    return undefined;
  return names.find((known) => known.toLowerCase() === best);
};

/** Whether the name only lacks words: `cors_origins` of `admin_cors_origins`. */
const containsWords = (known: string, name: string): boolean => {
  const [knownWords, given] = [wordsOf(known), wordsOf(name)];
  return given.length > 1 && given.every((word) => knownWords.includes(word));
};

const wordsOf = (name: string): string[] => name.toLowerCase().split(/[^a-z0-9]+/);

/** `; did you mean 'x'? (<what>: …)`, the end of an error message about an unknown name. */
export const hintOf = (name: string, what: string, names: readonly string[]): string => {
  const meant = nearest(name, names);
  return `${meant === undefined ? '' : `; did you mean '${meant}'?`} (${what}: ${names.join(', ')})`;
};
