import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The form of the credentials that this service issues (identity.md 2): a prefix, 43 random characters (256 bits), and
 * the CRC-32 of everything before it in base 62. Secret scanners check it; the service compares digests only.
 *
 * @example
 * createCredential(KEY_PREFIX, randomCharacter); // 'tpk_9fK3…a1Q7', 53 characters
 */
export const KEY_PREFIX = 'tpk_';
export const SESSION_PREFIX = 'tps_';
export const TICKET_PREFIX = 'tpt_';

type Prefix = typeof KEY_PREFIX | typeof SESSION_PREFIX | typeof TICKET_PREFIX;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 43;
const CHECK_DIGITS = 6;

/** Returns a number in `[0, below)`. */
export type Randomness = (below: number) => number;

export const secureRandomness: Randomness = (below) => randomInt(below);

export const createCredential = (prefix: Prefix, random: Randomness): string => {
  let text: string = prefix;
  for (let count = 0; count < RANDOM_CHARACTERS; count += 1) text += ALPHABET.charAt(random(ALPHABET.length));
  return text + checksumOf(text);
};

export const createKey = (random: Randomness): string => createCredential(KEY_PREFIX, random);

/** Returns whether a text has the length and the checksum of a credential with this prefix. */
export const isWellFormed = (prefix: Prefix, text: string): boolean =>
  text.length === prefix.length + RANDOM_CHARACTERS + CHECK_DIGITS &&
  text.startsWith(prefix) &&
  checksumOf(text.slice(0, -CHECK_DIGITS)) === text.slice(-CHECK_DIGITS);

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
