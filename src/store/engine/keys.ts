import { createHash } from 'node:crypto';
import { MAX_ID_BYTES } from '../../schema/id.ts';
import { Invalid } from '../../schema/outcome.ts';
import { baseOf, ownerOf } from '../../schema/partition.ts';

/**
 * The parts of keys. LMDB rejects keys above 1,978 bytes, and the key encoding is unambiguous only for text without
 * control characters. Three ids of 512 bytes and a number fit; any other external text that is only compared for
 * equality (a resource id) is part of keys as `indexed(text)`.
 */

export type Key = (string | number)[];

const CLEAN = /^[^\p{Cc}\p{Cs}]+$/u;
const SHORT_ENOUGH = MAX_ID_BYTES / 3;
const PLAIN = /^[\x20-\x7e]{1,63}$/;

/** Other texts cannot be ids of stored rows. */
export const isId = (text: string): boolean =>
  CLEAN.test(text) && (text.length <= SHORT_ENOUGH || Buffer.byteLength(text) <= MAX_ID_BYTES);

/** @throws Invalid */
export const checkId = (name: string, text: string): void => {
  if (isId(text)) return;
  throw new Invalid(`${name} must have 1 to ${MAX_ID_BYTES} bytes and no control characters`);
};

/** @throws Invalid */
export const checkPartition = (partition: string): void => {
  checkId('scope', baseOf(partition));
  checkId('owner', ownerOf(partition) ?? partition);
};

/**
 * Returns a short substitute for any text; substitutes are equal exactly when the stored texts are, which have no lone
 * surrogates.
 */
export const indexed = (text: string): string =>
  PLAIN.test(text)
    ? `=${text}`
    : `#${createHash('sha256').update(text.toWellFormed(), 'utf16le').digest('base64url')}`;

/** LMDB's own limit, as lmdb sets it for pages of 4 KiB. */
const MAX_KEY_BYTES = 1978;

/** Nine bytes, and one that terminates the number. */
const NUMBER_BYTES = 10;

/**
 * Returns the key if a transaction can store it. Otherwise the write would fail in the middle of a transaction, and its
 * earlier writes would stay although their batch was rejected.
 *
 * @throws RangeError
 */
export const writable = (key: Key): Key => {
  let most = 0;
  // A UTF-16 code unit has at most three bytes in UTF-8; each part has a terminating byte.
  for (const part of key) most += typeof part === 'string' ? 3 * part.length + 1 : NUMBER_BYTES;
  if (most <= MAX_KEY_BYTES) return key;
  let bytes = 0;
  for (const part of key) bytes += typeof part === 'string' ? Buffer.byteLength(part) + 1 : NUMBER_BYTES;
  if (bytes <= MAX_KEY_BYTES) return key;
  throw new RangeError(`a key of ${bytes} bytes cannot be stored; at most ${MAX_KEY_BYTES} bytes`);
};

export const isSameKey = (a: Key, b: Key): boolean => {
  if (a.length !== b.length) return false;
  // The last parts differ most often.
  for (let at = a.length - 1; at >= 0; at -= 1) if (a[at] !== b[at]) return false;
  return true;
};

/** Compares keys in the order of a table. Parts at the same position have the same type. */
export const compareKeys = (a: Key, b: Key): number => {
  for (let at = 0; at < a.length && at < b.length; at += 1) {
    const [mine, other] = [a[at] ?? 0, b[at] ?? 0];
    if (mine === other) continue;
    if (typeof mine === 'number' && typeof other === 'number') return mine - other;
    return Buffer.compare(Buffer.from(String(mine)), Buffer.from(String(other)));
  }
  return a.length - b.length;
};

/** Sorts after every key with the prefix: no text and no number begins with this byte. */
export const END: Uint8Array = new Uint8Array([0xff]);
