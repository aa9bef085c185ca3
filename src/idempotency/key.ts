import { createHash } from 'node:crypto';
import type { KeyName } from '../schema/idempotency.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Principal } from '../schema/principal.ts';

/** The value of the header `Idempotency-Key` (runtime.md 0.8). */

const VISIBLE = /^[\x21-\x7e]{1,255}$/;
/** A string of RFC 8941, without parameters. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/**
 * Returns the key of a request: bare, or a string in quotes.
 *
 * @param values of all lines of the header
 * @throws Invalid
 */
export const keyIn = (values: readonly string[]): string => {
  const [value = '', ...others] = values;
  if (others.length > 0) throw new Invalid('Idempotency-Key: must be given once');
  const key = value.startsWith('"') ? QUOTED.exec(value)?.[1]?.replace(/\\(.)/g, '$1') : value;
  if (key !== undefined && VISIBLE.test(key)) return key;
  throw new Invalid('Idempotency-Key: must have 1 to 255 visible ASCII characters, bare or in double quotes');
};

/** Keys are names within their caller (identity.md 1.4): the user, or without one the credential. */
export const nameOf = ({ scope, user, credential }: Principal, key: string): KeyName => ({
  scope,
  caller: user ?? `~${credential.kind}${credential.id === undefined ? '' : `~${credential.id}`}`,
  key: createHash('sha256').update(key).digest('base64url'),
});
