/** Standard base64 with padding, as in data URLs and protocols. */

/** Node decodes many forms of base64; only the standard form survives a round trip. */
export const isBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text;

/** Returns the number of decoded bytes, without decoding. */
export const decodedSize = (base64: string): number => {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
};
