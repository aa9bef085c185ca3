import { RE2JS, RE2JSException } from 're2js';
import { Invalid } from './outcome.ts';

/**
 * Regular expressions from external sources: stop conditions, permission rules, skills, schemas of tools.
 *
 * Guarantees: a search takes time linear in the text, for any pattern; the engine has no backtracking. A pattern
 * compiles within the time of a request, or is rejected.
 * Relies on RE2 syntax: look-around and back references are rejected as invalid.
 * Cost: text length times program size in the worst case. A short pattern with nested counts can compile to a huge
 * program, so programs past a limit are rejected too, the worst before they are compiled.
 */

const MAX_PATTERN = 4096;
const MAX_PROGRAM = 4096;
/** Pattern length times the largest count in it: an estimate of the program size before compilation. */
const MAX_EXPANSION = 64 * MAX_PROGRAM;

const TOO_LARGE = `it is too large: allowed are ${MAX_PATTERN} characters, and as many steps when its counts are written out`;

/** Returns the compiled expression, or an error, which does not repeat the whole pattern. */
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
