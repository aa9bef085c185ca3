import { RE2JS, RE2JSException } from 're2js';
import { Invalid } from './outcome.ts';

/**
 * Expressions that somebody else wrote: stop conditions, permission rules, skills, schemas of tools.
 *
 * Guarantees: a search takes time linear in the text, whatever the pattern; the engine has no backtracking. One
 * compiles in the time of a request, or is refused.
 * Relies on RE2 syntax: look-around and back references are refused as invalid.
 * Costs: text length times program size in the worst case. A short pattern with nested counts can compile to a
 * huge program, so programs past a limit are refused too, the worst before they are made.
 */

const MAX_PATTERN = 4096;
const MAX_PROGRAM = 4096;
/** Length times the largest count in it: what the program may become before it is measured. */
const MAX_EXPANSION = 64 * MAX_PROGRAM;

const TOO_LARGE = `it is too large: allowed are ${MAX_PATTERN} characters, and as many steps when its counts are written out`;

/** The expression, or why it cannot be one; the pattern is not repeated as a whole. */
export const compileExpression = (pattern: string, flags = 0): RE2JS | Invalid => {
  if (pattern.length > MAX_PATTERN || pattern.length * largestCount(pattern) > MAX_EXPANSION) {
    return new Invalid(TOO_LARGE);
  }
  try {
    const compiled = RE2JS.compile(pattern, flags);
    return compiled.programSize() > MAX_PROGRAM ? new Invalid(TOO_LARGE) : compiled;
  } catch (cause) {
    if (cause instanceof RE2JSException) return new Invalid(cause.message, { cause });
    throw cause;
  }
};

const largestCount = (pattern: string): number =>
  Array.from(pattern.matchAll(/\{(\d{0,9}),?(\d{0,9})\}/g)).reduce(
    (largest, [, least, most]) => Math.max(largest, Number(least), Number(most)),
    1,
  );
