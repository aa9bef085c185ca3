/** All kinds of characters that encodings treat differently. */
export const CHARACTERS: readonly string[] = [
  'plain',
  // Latin-1 only: one byte in V8, two in UTF-8.
  'café ñ ß £ §',
  'a\u00a0b',
  '漢字 €',
  '😀 👩‍🚀',
  'line\u2028paragraph\u2029',
  'nul\0',
  'high \ud83d',
  'low \ude00',
];

/** The text as UTF-8 encodes it, which replaces lone surrogates. */
export const wellFormed = (text: string): string => Buffer.from(text).toString();
