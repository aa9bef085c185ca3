import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The form of stored credentials (identity.md 2): a prefix, 43 random characters (256 bits), and the CRC-32 of
 * everything before it in base 62. Secret scanners check it; the service does not, because only digests are compared.
 *
 * @example
 * createKey(randomCharacter); // 'tpk_9fK3…a1Q7', 53 characters
 */
export const KEY_PREFIX = 'tpk_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 43;
const CHECK_DIGITS = 6;

/** Returns a number in `[0, below)`. */
export type Randomness = (below: number) => number;

export const secureRandomness: Randomness = (below) => randomInt(below);

export const createKey = (random: Randomness): string => {
  let key = KEY_PREFIX;
  for (let count = 0; count < RANDOM_CHARACTERS; count += 1) key += ALPHABET.charAt(random(ALPHABET.length));
  return key + checksumOf(key);
};

export const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECK_DIGITS) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
};

/** The digest under which a credential is stored. It has no salt, because the credential has 256 random bits. */
export const digestOf = (credential: string): string => hash('sha256', credential, 'base64url');

/** The name of a credential in the audit log (config.md 9.2). */
export const actorOf = (credential: string): string => hash('sha256', credential).slice(0, ACTOR_DIGITS);

const ACTOR_DIGITS = 16;

/** Beginning and end of a key, by which a person recognizes it. */
export const hintOf = (key: string): string => `${key.slice(0, KEY_PREFIX.length + 4)}…${key.slice(-4)}`;
