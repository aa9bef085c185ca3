import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { Invalid, Unavailable } from '../schema/outcome.ts';

/**
 * Text at rest: AES-256-GCM under a key made from SERVICE_SECRETS_KEY.
 *
 * Guarantees: sealed text cannot be read, or changed unnoticed, without the key. Every text has its own random
 * nonce, so equal texts do not look equal (with 2^32 texts under one key the chance of two equal nonces is still
 * below 2^-32). Without a key texts stay as they are.
 *
 * The key is what somebody typed into a setting, often a phrase and not 256 random bits; scrypt makes every guess
 * cost tens of milliseconds and 16 MiB, where HKDF would cost a microsecond. The salt is fixed, because the key must come
 * out the same at every start: two services with the same phrase have the same key.
 *
 * Costs one scrypt a start, some 5 microseconds a text of 1 KB, and a third more bytes (base64) and 48 on top.
 */

export type Cipher = {
  /** Whether texts are sealed; false without a key. */
  readonly active: boolean;
  seal(text: string): string;
  /**
   * Gives text that is not sealed back as it is.
   * @throws Unavailable when it is sealed and the key is missing or another one
   */
  open(text: string): string;
};

/** Nothing that is stored as plain JSON begins like this. The number is that of the scheme. */
const PREFIX = 'sealed:1:';
const LABEL = Buffer.from('troupe secrets 1');
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WORK = { N: 2 ** 14, r: 8, p: 1 };

export const isSealed = (text: string): boolean => text.startsWith(PREFIX);

/** @throws Invalid when the key is blank */
export const createCipher = (key: string | undefined): Cipher => {
  if (key === undefined) return PLAIN;
  if (key.trim() === '')
    throw new Invalid('SERVICE_SECRETS_KEY is blank: set it to a long secret, or unset it');
  const secret = scryptSync(key, LABEL, KEY_BYTES, WORK);
  return {
    active: true,
    seal: (text) => PREFIX + sealed(secret, text).toString('base64url'),
    open: (text) => (isSealed(text) ? opened(secret, text) : text),
  };
};

const PLAIN: Cipher = {
  active: false,
  seal: (text) => text,
  open(text) {
    if (!isSealed(text)) return text;
    throw new Unavailable('stored secrets are encrypted: set SERVICE_SECRETS_KEY to the key that they have');
  },
};

/** Nonce, tag, text. */
const sealed = (secret: Buffer, text: string): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
};

const opened = (secret: Buffer, text: string): string => {
  try {
    const bytes = Buffer.from(text.slice(PREFIX.length), 'base64url');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, secret, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new Unavailable(
      'stored secrets cannot be decrypted: SERVICE_SECRETS_KEY is not the key that they have, or the data is damaged',
      { cause },
    );
  }
};
