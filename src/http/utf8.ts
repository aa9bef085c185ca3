import { isUtf8 } from 'node:buffer';

/**
 * Decodes the bytes of a text incrementally: all earlier bytes are decoded when the last byte arrives, so no event-loop
 * tick has to decode a whole long text.
 *
 * Cost: a block of memory in addition to the text. Small chunks cost no more than large ones, because a block is filled
 * before it is decoded.
 */
export type Decoding = { text: string; block: Buffer; length: number };

export const startDecoding = (): Decoding => ({ text: '', block: Buffer.alloc(0), length: 0 });

const BLOCK = 64 * 1024;

/** Copies the bytes. Returns false if they are not UTF-8. */
export const decodeNext = (decoding: Decoding, bytes: Uint8Array): boolean => {
  for (let at = 0; at < bytes.length; ) {
    const part = bytes.subarray(at, at + BLOCK - decoding.length);
    hold(decoding, part);
    at += part.length;
    if (decoding.length === BLOCK && !flush(decoding, completeLength(decoding.block))) return false;
  }
  return true;
};

/** Returns the whole text, or undefined if its last bytes are not UTF-8. */
export const endDecoding = (decoding: Decoding): string | undefined =>
  flush(decoding, decoding.length) ? decoding.text : undefined;

/** Appends to a block that grows by doubling, because most texts of several chunks are short. */
const hold = (decoding: Decoding, bytes: Uint8Array): void => {
  const { block, length } = decoding;
  const needed = length + bytes.length;
  if (needed > block.length) {
    decoding.block = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(needed, block.length * 2)));
    block.copy(decoding.block, 0, 0, length);
  }
  decoding.block.set(bytes, length);
  decoding.length = needed;
};

const flush = (decoding: Decoding, end: number): boolean => {
  const { block, length } = decoding;
  const bytes = block.subarray(0, end);
  if (!isUtf8(bytes)) return false;
  decoding.text += bytes.toString();
  block.copyWithin(0, end, length);
  decoding.length = length - end;
  return true;
};

/** Returns the length without an incomplete character at the end. */
const completeLength = (bytes: Buffer): number => {
  for (let back = 1; back < LONGEST; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < CONTINUATION) break;
    if (byte >= LEAD) return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};

const LONGEST = 4;
const CONTINUATION = 0x80;
const LEAD = 0xc0;

const lengthOf = (lead: number): number => {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
};
