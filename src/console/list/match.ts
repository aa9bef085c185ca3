/** Search: a row matches if it contains each word of the query, in any field and case. */

export const tokensOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

export const matches = (texts: readonly string[], tokens: readonly string[]): boolean => {
  if (tokens.length === 0) return true;
  const whole = texts.join('\n').toLowerCase();
  return tokens.every((token) => whole.includes(token));
};

export type Part = { text: string; hit: boolean };

export const highlighted = (text: string, tokens: readonly string[]): Part[] => {
  const lower = text.toLowerCase();
  // Some characters change their length in lower case; in that case nothing is highlighted.
  if (tokens.length === 0 || lower.length !== text.length) return [{ text, hit: false }];
  const hits = new Uint8Array(text.length);
  for (const token of tokens) {
    for (let at = lower.indexOf(token); at >= 0; at = lower.indexOf(token, at + token.length)) {
      hits.fill(1, at, at + token.length);
    }
  }
  const parts: Part[] = [];
  for (let start = 0; start < text.length; ) {
    let end = start + 1;
    while (end < text.length && hits[end] === hits[start]) end += 1;
    parts.push({ text: text.slice(start, end), hit: hits[start] === 1 });
    start = end;
  }
  return parts;
};
