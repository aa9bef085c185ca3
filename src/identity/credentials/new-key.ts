import type { KeyState, NewKey } from '../../schema/api-key.ts';
import { Forbidden, Invalid } from '../../schema/outcome.ts';
import type { KeyRow } from '../../store/index.ts';
import { MOST_ACT_SECS } from './key-rights.ts';

/** The life, name and header of a key (identity.md 2.1). */

const DAY_SECS = 86_400;
const DEFAULT_DAYS = 90;

/**
 * Returns when a new key expires.
 *
 * @param maxDays the longest life in the settings; 0: any
 * @param mostSecs the longest life that the caller may give
 * @throws Invalid, Forbidden
 */
export const expiryOf = (
  given: NewKey['expires_in_secs'],
  { now, maxDays, mostSecs }: { now: number; maxDays: number; mostSecs: number | undefined },
): number | null => {
  const most = maxDays === 0 ? undefined : maxDays * DAY_SECS;
  if (most !== undefined && (given === null || (given !== undefined && given > most))) {
    throw new Invalid(
      `expires_in_secs must be at most ${most} (identity.key_max_days is ${maxDays}; got ${given})`,
    );
  }
  if (mostSecs !== undefined && given !== undefined && (given === null || given > mostSecs)) {
    throw new Forbidden(
      `a key that act creates for an end user lasts at most ${MOST_ACT_SECS} seconds (got ${given})`,
      { code: 'forbidden', details: { needs: ['admin'] } },
    );
  }
  if (given === null) return null;
  const secs = given ?? Math.min(DEFAULT_DAYS * DAY_SECS, most ?? Infinity, mostSecs ?? Infinity);
  return now + secs * 1000;
};

const MOST_NAME_CHARACTERS = 128;

/** @throws Invalid */
export const checkedKeyName = (name: string): string => {
  const characters = Array.from(name).length;
  if (characters >= 1 && characters <= MOST_NAME_CHARACTERS && name.trim() === name && !/\p{C}/u.test(name)) {
    return name;
  }
  throw new Invalid(
    `name must have 1 to ${MOST_NAME_CHARACTERS} characters, no control characters and no blanks at its ends (got ${characters} characters)`,
  );
};

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const RESERVED = new Set(['authorization', 'cookie', 'host', 'origin', 'x-service-actor']);

/** @throws Invalid */
export const checkedHeader = (header: string): string => {
  const name = header.toLowerCase();
  if (HEADER_NAME.test(name) && !RESERVED.has(name)) return name;
  throw new Invalid(
    `user_header must be the name of a header, and none of ${[...RESERVED].join(', ')} (got ${JSON.stringify(header.slice(0, 80))})`,
  );
};

export const stateOf = (
  { expires_at, revoked_at }: Pick<KeyRow, 'expires_at' | 'revoked_at'>,
  now: number,
): KeyState =>
  revoked_at !== null ? 'revoked' : expires_at !== null && expires_at <= now ? 'expired' : 'active';
