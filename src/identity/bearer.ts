import { Unauthorized } from '../schema/outcome.ts';

/** The `Authorization` header of a request: at most one line, of visible ASCII (config.md 1.1, conditions 3 to 5). */
export type Bearer =
  | { kind: 'none' }
  /** Another scheme than `Bearer`. */
  | { kind: 'other' }
  /** The token is everything after the first space, byte for byte. */
  | { kind: 'bearer'; token: string };

const NONE: Bearer = { kind: 'none' };
const OTHER: Bearer = { kind: 'other' };

/**
 * @param values unmodified values of all lines
 * @throws Unauthorized
 */
export const readBearer = ([value, ...more]: readonly string[]): Bearer => {
  if (value === undefined) return NONE;
  if (more.length > 0) throw new Unauthorized('multiple Authorization headers are not allowed');
  if (!VISIBLE_ASCII.test(value)) throw new Unauthorized('invalid Authorization header');
  // The usual spelling needs no other text.
  if (value.startsWith(USUAL)) return { kind: 'bearer', token: value.slice(USUAL.length) };
  const space = value.indexOf(' ');
  if (space < 0 || value.slice(0, space).toLowerCase() !== 'bearer') return OTHER;
  return { kind: 'bearer', token: value.slice(space + 1) };
};

const USUAL = 'Bearer ';

/** A TAB passes here and is rejected by the next check. */
const VISIBLE_ASCII = /^[\t\x20-\x7e]*$/;
