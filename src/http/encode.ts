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

/**
 * Converts a body, of which a server that does not retain it receives shared memory: the bytes are valid until the next
 * call.
 *
 * Cost: one copy of a long text. As a string, the server would measure and copy it in addition, which costs 0.2 µs per
 * KiB.
 */
export const encodeBody = (body: string | Uint8Array, retains: true | undefined): string | Uint8Array => {
  if (typeof body !== 'string') return body;
  if (retains || body.length < LEAST_SHARED || body.length > MOST_SHARED) return encode(body);
  shared ??= Buffer.allocUnsafeSlow(MOST_SHARED * BYTES_PER_CHARACTER);
  return shared.subarray(0, shared.write(body));
};

/** The view of the memory costs as much as it saves for a shorter text. */
const LEAST_SHARED = 2048;
const MOST_SHARED = 128 * 1024;
/** At most: a pair of surrogates has four bytes. */
const BYTES_PER_CHARACTER = 3;

let shared: Buffer | undefined;
