import {
  allows,
  type Grants,
  type GrantWord,
  isGrantWord,
  mentions,
  parseTokenGrants,
} from '../../schema/grants.ts';
import { fields, flag, list, number, object, optional, text, withDefault } from './guard.ts';

/** Whom the requests of this console act for, and what they may do (identity.md 2.4). */

const SignIn = object({ kind: text, id: optional(text), label: optional(text), url: optional(text) });
export type SignIn = ReturnType<typeof SignIn>;

export const Identity = object({
  authenticated: flag,
  anonymous: flag,
  ...fields(optional(text), 'scope', 'user', 'name'),
  grants: withDefault(list(text), []),
  credential: optional(object({ kind: text, id: optional(text) })),
  identity_changed: optional(object({ at: number, by: text })),
  sign_in: withDefault(list(SignIn), []),
});
export type Identity = ReturnType<typeof Identity>;

/** A grant that a route needs, in the form of its `needs`: a word alone is satisfied by any pattern. */
export type GrantText = GrantWord | `${GrantWord}:${string}`;

/** Nothing, or grants of which one is enough. */
export type Needs = readonly GrantText[] | undefined;

const parsed = new WeakMap<readonly string[], Grants>();

const grantsOf = (texts: readonly string[]): Grants => {
  const grants = parsed.get(texts) ?? parseTokenGrants(texts);
  parsed.set(texts, grants);
  return grants;
};

const has = (grants: Grants, needed: string): boolean => {
  const [word = '', pattern] = needed.split(':');
  if (!isGrantWord(word)) return false;
  return pattern === undefined ? mentions([grants], word) : allows(grants, word, pattern);
};

/**
 * Whether the principal may use what needs these grants. Without a credential the console shows everything, because it
 * asks for a credential as soon as a route needs one.
 */
export const mayUse = (who: Identity | undefined, needs: Needs): boolean =>
  !who?.authenticated || needs === undefined || needs.some((grant) => has(grantsOf(who.grants), grant));

/** `mayUse` for an act on something whose name is not part of the program, such as `decide` on a call. */
export const mayDo = (who: Identity | undefined, word: GrantWord, ...values: readonly string[]): boolean =>
  !who?.authenticated || allows(grantsOf(who.grants), word, ...values);
