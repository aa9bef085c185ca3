/**
 * Converts a text to the form that an HTTP server writes as UTF-8.
 *
 * Some binaries of uWebSockets.js write a string whose characters are all below U+0100 as Latin-1, and `node:http`
 * writes header values that way. So a server receives a string only if every encoding of it has the same bytes, and
 * otherwise the UTF-8 bytes.
 *
 * Cost: one comparison of lengths for ASCII text.
 */
export const encode = (text: string): string | Uint8Array =>
  Buffer.byteLength(text) === text.length ? text : Buffer.from(text);

export const encodeBody = (body: string | Uint8Array): string | Uint8Array =>
  typeof body === 'string' ? encode(body) : body;
