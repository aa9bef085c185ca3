/** The name that was probably meant, of those that there are. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > LONGEST) return undefined;
  const wanted = name.toLowerCase();
  let best: { name: string; changes: number } | undefined;
  for (const known of names) {
    const changes = distance(wanted, known.toLowerCase());
    if (changes <= SHARE * Math.max(name.length, known.length) && changes < (best?.changes ?? Infinity)) {
      best = { name: known, changes };
    }
  }
  return best?.name;
};

/** `; did you mean 'x'? (<what>: …)`, the end of a text about a name that nobody has. */
export const hintOf = (name: string, what: string, names: readonly string[]): string => {
  const meant = nearest(name, names);
  return `${meant === undefined ? '' : `; did you mean '${meant}'?`} (${what}: ${names.join(', ')})`;
};

/** So much of a name may be wrong before it no longer suggests another. */
const SHARE = 0.4;

const LONGEST = 64;

/** Letters to be added, taken away or exchanged (Levenshtein). */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let line = 1; line <= one.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[line - 1] === other[column - 1] ? 0 : 1;
      next.push(Math.min((row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, (row[column - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[other.length] ?? 0;
};
