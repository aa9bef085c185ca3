/**
 * Parses a query string, percent- and plus-decoded. The first value of a repeated key counts, as with
 * `URLSearchParams.get`. The record has no prototype, so no key is special.
 */
export const parseQuery = (text: string): Record<string, string> => {
  const values: Record<string, string> = Object.create(null);
  if (text === '') return values;
  for (const [key, value] of new URLSearchParams(text)) values[key] ??= value;
  return values;
};

/** Returns the first repeated key of a query string. */
export const repeatedKey = (text: string): string | undefined => {
  const seen = new Set<string>();
  for (const key of new URLSearchParams(text).keys()) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
};

/** Returns text with invalid percent-encoding unchanged. */
export const decodeSegment = (text: string): string => {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
