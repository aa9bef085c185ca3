/**
 * The values of a query string, percent- and plus-decoded. When a key is repeated its first value counts, as with
 * `URLSearchParams.get`. The record has no prototype, so that no key means anything but itself.
 */
export const parseQuery = (text: string): Record<string, string> => {
  const values: Record<string, string> = Object.create(null);
  if (text === '') return values;
  for (const [key, value] of new URLSearchParams(text)) values[key] ??= value;
  return values;
};

/** The first key that a query string says twice. */
export const repeatedKey = (text: string): string | undefined => {
  const seen = new Set<string>();
  for (const key of new URLSearchParams(text).keys()) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
};

/** What is not valid percent-encoding stands for itself. */
export const decodeSegment = (text: string): string => {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
