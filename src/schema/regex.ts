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

/** Steps of all expressions of one schema. */
const MAX_TOGETHER = 2 * MAX_PROGRAM;
const CATEGORY_STEPS = 32;

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

/** Compiles an expression, or rejects it as too large together with those before it. */
export type CompileWithin = (pattern: string) => RE2JS | Invalid;

/**
 * Limits the time that the expressions of one schema take together; equal ones are compiled once. The limit is a number
 * of steps and characters, of which a category such as `\p{L}` counts as many, because the engine reads its tables.
 */
export const createExpressions = (limit = MAX_TOGETHER): CompileWithin & { spent(): number } => {
  const known = new Map<string, RE2JS | Invalid>();
  let spent = 0;
  const compile = (pattern: string): RE2JS | Invalid => {
    const before = known.get(pattern);
    if (before) return before;
    const length = lengthWithCategories(pattern);
    if (spent + length > limit)
      return new Invalid(`the patterns are too large together: allowed are ${limit} steps`);
    const compiled = compileExpression(pattern);
    spent += Math.max(length, compiled instanceof Invalid ? stepsBefore(compiled) : compiled.programSize());
    known.set(pattern, compiled);
    return compiled;
  };
  return Object.assign(compile, { spent: () => spent });
};

const lengthWithCategories = (pattern: string): number =>
  pattern.length + CATEGORY_STEPS * (pattern.match(/\\p/gi)?.length ?? 0);

/** An error of the syntax is found before any step is written. */
const stepsBefore = ({ message }: Invalid): number => (message === TOO_LARGE ? MAX_TOGETHER : 0);

const largestCount = (pattern: string): number =>
  Array.from(pattern.matchAll(/\{(\d{0,9}),?(\d{0,9})\}/g)).reduce(
    (largest, [, least, most]) => Math.max(largest, Number(least), Number(most)),
    1,
  );
