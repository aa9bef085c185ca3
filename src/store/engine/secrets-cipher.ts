import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { Unavailable } from '../../schema/outcome.ts';
import type { Key } from './keys.ts';

/**
 * Encryption of text in the store: AES-256-GCM.
 *
 * Guarantees: sealed text cannot be read, or changed unnoticed, without the key, and it can only be opened in the row
 * that it was sealed for: table and key of the row, and the fields of its head that the table names, are its associated
 * data. Every text has its own random nonce, so
 * equal texts have different ciphertexts (with 2^32 texts under one key the chance of two equal nonces is still below
 * 2^-32).
 *
 * A key chosen by a person is often a phrase and not 256 random bits; scrypt makes every guess cost tens of
 * milliseconds and 16 MiB. The salt is fixed, because the secret must be the same at every start: two services with the
 * same phrase have the same secret. A generated key is recognized by its prefix and is used unchanged, from any source.
 *
 * Cost: one scrypt for each start with a phrase, some 5 microseconds for a text of 1 KB, and a third more bytes
 * (base64) plus 48.
 */

export type Cipher = {
  seal(text: string, place: Place): string;
  /** @throws Unavailable when the text is not sealed, or is sealed for another row or with another key */
  open(text: string, place: Place): string;
};

/** The row that a text belongs to, and the values of its head that the text is also bound to. */
export type Place = { table: string; key: Key; bound?: readonly unknown[] };

/**
 * Opens a text that an earlier version, an earlier key or no key has written. Returns undefined when the text is sealed
 * in the current format with the current key.
 *
 * @throws Unavailable when no key opens it
 */
export type OpenOlder = (text: string, place: Place) => string | undefined;

/** Plain JSON never begins with these. The number is that of the scheme: texts of scheme 1 have no associated data. */
const SCHEMES = { unbound: 'sealed:1:', bound: 'sealed:2:' } as const;
const GENERATED = 'troupe-key-1:';
const LABEL = Buffer.from('troupe secrets 1');
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WORK = { N: 2 ** 14, r: 8, p: 1 };

export const isSealed = (text: string): boolean =>
  text.startsWith(SCHEMES.bound) || text.startsWith(SCHEMES.unbound);

export const generateKey = (): string => GENERATED + randomBytes(KEY_BYTES).toString('base64url');

/** Undefined when the text is not a generated key. */
export const generatedSecret = (key: string): Buffer | undefined => {
  if (!key.startsWith(GENERATED)) return undefined;
  const secret = Buffer.from(key.slice(GENERATED.length), 'base64url');
  return secret.length === KEY_BYTES ? secret : undefined;
};

export const secretOf = (key: string): Buffer =>
  generatedSecret(key) ?? scryptSync(key, LABEL, KEY_BYTES, WORK);

export const createCipher = (secret: Buffer): Cipher => ({
  seal: (text, place) => SCHEMES.bound + encrypted(secret, text, dataOf(place)).toString('base64url'),
  open: (text, place) => opened(secret, text, place),
});

/** For a folder that contains no secrets. */
export const NO_CIPHER: Cipher = {
  seal: (text) => text,
  open(text, place) {
    if (!isSealed(text)) return text;
    throw new Unavailable(`${rowOf(place)} is encrypted, and this folder is opened without a key`);
  },
};

/** @param secrets the current one first */
export const createOpenOlder = (secrets: readonly [Buffer, ...Buffer[]]): OpenOlder => {
  const [current] = secrets;
  const attempts = secrets.flatMap((secret) => [
    (text: string, place: Place) => opened(secret, text, place),
    (text: string, place: Place) => openedUnbound(secret, text, place),
  ]);
  return (text, place) => {
    if (!isSealed(text)) return text;
    if (succeeds(() => opened(current, text, place))) return undefined;
    const right = attempts.find((attempt) => succeeds(() => attempt(text, place)));
    if (right) return right(text, place);
    throw cannotOpen(place);
  };
};

const succeeds = (work: () => unknown): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

const rowOf = ({ table, key }: Place): string => `the row ${JSON.stringify(key)} of table '${table}'`;

const cannotOpen = (place: Place, cause?: unknown): Unavailable =>
  new Unavailable(
    `${rowOf(place)} cannot be decrypted: it is encrypted with another key, was moved from another row, or is damaged`,
    { cause },
  );

const opened = (secret: Buffer, text: string, place: Place): string => {
  if (!text.startsWith(SCHEMES.bound)) throw cannotOpen(place);
  return decrypted(secret, text.slice(SCHEMES.bound.length), place, dataOf(place));
};

const openedUnbound = (secret: Buffer, text: string, place: Place): string => {
  if (!text.startsWith(SCHEMES.unbound)) throw cannotOpen(place);
  return decrypted(secret, text.slice(SCHEMES.unbound.length), place, Buffer.alloc(0));
};

/** Injective, since JSON quotes the parts, and no part of a key is a list. */
const dataOf = ({ table, key, bound }: Place): Buffer =>
  Buffer.from(JSON.stringify(bound ? [table, ...key, bound] : [table, ...key]));

/** Returns nonce, tag and ciphertext. */
const encrypted = (secret: Buffer, text: string, data: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(data);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
};

const decrypted = (secret: Buffer, encoded: string, place: Place, data: Buffer): string => {
  try {
    const bytes = Buffer.from(encoded, 'base64url');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(data);
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch (cause) {
    throw cannotOpen(place, cause);
  }
};
