/** Standard base64 with padding, as data URLs and protocols have it. */

/** Node takes many forms of base64; only the standard one comes out as it went in. */
export const isBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text;

/** Bytes that it stands for, without decoding it. */
export const decodedSize = (base64: string): number => {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
};
