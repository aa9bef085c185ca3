import { type GrantWord, isGrantWord, isServiceWord } from '../schema/grants.ts';
import type { Surface } from '../schema/presented.ts';
import { forbidden, may, type Need, type Principal } from '../schema/principal.ts';

/**
 * The right that a route needs before its body is read (identity.md 3.4): nothing, any principal, a grant, or one of
 * several. A route for `anyone` receives the principal of the request, or `NOBODY` if it has no credential and needs one
 * elsewhere; a bad credential is rejected.
 *
 * A pattern may name a parameter of the path, as in `configure:{ns}`. A grant without a pattern is satisfied by any
 * pattern of the principal: what it concerns is known to the handler only.
 */
export type Needs = 'nothing' | 'anyone' | 'principal' | GrantText | readonly [GrantText, ...GrantText[]];

export type GrantText = GrantWord | `${GrantWord}:${string}`;

export type Door = {
  /** Absent for routes that need nothing. */
  surface: Surface | undefined;
  /** Whether a request without a credential is admitted wherever it comes from. */
  isOptional: boolean;
  /** The grants, one of which is enough. */
  grants: readonly GrantText[];
  /** @throws Forbidden with the first of the grants */
  check(principal: Principal, params: Readonly<Record<string, string>>): void;
};

export const createDoor = (needs: Needs): Door => {
  if (needs === 'principal' || needs === 'anyone') {
    return { surface: 'agent-invocation', isOptional: needs === 'anyone', grants: [], check() {} };
  }
  const grants = needs === 'nothing' ? [] : typeof needs === 'string' ? [needs] : needs;
  const [first, ...others] = grants.map(compile);
  if (!first) return { surface: undefined, isOptional: true, grants, check() {} };
  return {
    surface: isServiceWord(first.word) ? 'admin' : 'agent-invocation',
    isOptional: false,
    grants,
    check(principal, params) {
      const need = first.needIn(params);
      if (may(principal, need) || others.some((other) => may(principal, other.needIn(params)))) return;
      throw forbidden(need, principal);
    },
  };
};

type Compiled = { word: GrantWord; needIn(params: Readonly<Record<string, string>>): Need };

const compile = (text: GrantText): Compiled => {
  const [word = '', pattern] = text.split(':');
  if (!isGrantWord(word)) throw new Error(`a route needs the unknown grant ${text}`);
  if (pattern === undefined) {
    const need: Need = [word];
    return { word, needIn: () => need };
  }
  const name = /^\{(\w+)\}$/.exec(pattern)?.[1];
  const fixed: Need = [word, pattern];
  return { word, needIn: name === undefined ? () => fixed : (params) => [word, params[name] ?? ''] };
};
