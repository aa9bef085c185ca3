import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../schema/clock.ts';

/**
 * Sign-ins in progress (identity.md 2.6).
 *
 * Over https, the browser keeps its attempt in a sealed cookie, so that no number of attempts fills the memory. On
 * loopback there are no cookies: attempts are in memory, and the oldest one ends beyond `MOST_ATTEMPTS`.
 *
 * Guarantees: an attempt in memory is taken once. The key of the seal ends with the process.
 */
export type Attempt = {
  issuer: string;
  state: string;
  nonce: string;
  verifier: string;
  return_to: string;
  /** On loopback, the SHA-256 of the verifier of the page that began it. */
  challenge?: string;
};

const ATTEMPT_SECS = 600;
const MOST_ATTEMPTS = 100;

/** Values that are taken once, before they expire; beyond `MOST_ATTEMPTS` the oldest one ends. */
type Once<Value> = {
  put(key: string, value: Value): void;
  take(key: string): Value | undefined;
};

export const createOnce = <Value>(clock: Clock, lifeMs: number): Once<Value> => {
  const values = new Map<string, { value: Value; until: number }>();
  return {
    put(key, value) {
      values.set(key, { value, until: clock.now() + lifeMs });
      const [oldest] = values.keys();
      if (values.size > MOST_ATTEMPTS && oldest !== undefined) values.delete(oldest);
    },
    take(key) {
      const found = values.get(key);
      values.delete(key);
      return found && clock.now() < found.until ? found.value : undefined;
    },
  };
};

type Seal = {
  seal(attempt: Attempt): Promise<string>;
  /** Returns undefined for a text that was not sealed here, or has expired. */
  open(sealed: string): Promise<Attempt | undefined>;
};

export const createSeal = (clock: Clock): Seal => {
  const key = randomBytes(32);
  return {
    async seal(attempt) {
      const { EncryptJWT } = await import('jose/jwt/encrypt');
      return new EncryptJWT({ attempt })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(Math.floor(clock.now() / 1000) + ATTEMPT_SECS)
        .encrypt(key);
    },
    async open(sealed) {
      const { jwtDecrypt } = await import('jose/jwt/decrypt');
      try {
        const { payload } = await jwtDecrypt(sealed, key, { currentDate: new Date(clock.now()) });
        // Only this process has the key, so the text is one that `seal` has made.
        return payload.attempt as Attempt;
      } catch {
        return undefined;
      }
    },
  };
};

export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');
