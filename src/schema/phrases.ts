import { z } from 'zod';

/**
 * Error messages for schema violations, in terms of JSON and for the author of the value. Everything that shows issues
 * to people uses it: pass `phrases` to `safeParse`, then `problemOf` returns text and path. Custom messages of a schema
 * are kept unchanged.
 */

/** For `safeParse(value, phrases)`. */
export const phrases = { error: (issue: z.core.$ZodRawIssue): string => phraseOf(issue) };

/**
 * For values that are parsed once, such as configuration entries and settings: zod compiles no function for their
 * schemas, which costs more than it saves and slows every start.
 */
export const phrasesOnce = { ...phrases, jitless: true };

export type Problem = {
  path: readonly PropertyKey[];
  text: string;
  /** Whether the value is absent. */
  missing: boolean;
  /** Whether the value is present and has another type. */
  isOfWrongType: boolean;
};

const MISSING = 'is missing';

const phraseOf = (issue: z.core.$ZodRawIssue): string => {
  if (issue.input === undefined) return MISSING;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nameOf(issue.expected)}, not ${kindOf(issue.input)}`;
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`;
    case 'too_big':
      return (
        bound(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most') + sizeOf(issue.input)
      );
    case 'too_small':
      return bound(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? `must be of the form ${issue.pattern ?? issue.format}`;
    case 'unrecognized_keys':
      return listed(issue.keys.map((key) => `unknown field '${key}'`)).join('; ');
    case 'invalid_key':
      return 'has a key that is not allowed';
    case 'invalid_union':
      return NO_FORM;
    default:
      return 'is not allowed';
  }
};

const NO_FORM = 'has none of the allowed forms';

const NAMES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  int: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

const nameOf = (expected: string): string => NAMES[expected] ?? expected;

const kindOf = (input: unknown): string => {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  if (typeof input === 'boolean') return String(input);
  if (typeof input === 'number' && !Number.isInteger(input)) return 'a fraction';
  return nameOf(typeof input);
};

const oneOf = (values: readonly unknown[]): string => {
  const quoted = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  return quoted.length === 1 ? (quoted[0] ?? '') : `one of ${quoted.join(', ')}`;
};

const UNITS: Readonly<Record<string, string>> = { array: 'items', string: 'characters', object: 'fields' };

const bound = ({ origin }: { origin: string }, limit: unknown, relation: string): string => {
  const unit = UNITS[origin];
  return unit === undefined ? `must be ${relation} ${limit}` : `must have ${relation} ${limit} ${unit}`;
};

const sizeOf = (input: unknown): string => (Array.isArray(input) ? `, not ${input.length}` : '');

const FORMATS: Readonly<Record<string, string>> = {
  date: 'must be a date such as 2026-01-31',
  datetime: 'must be a time such as 2026-01-31T12:00:00Z',
  url: 'must be a URL',
};

/**
 * Returns text and path of an issue. Of the forms that a union allows, the one that matched the furthest is reported.
 */
export const toProblem = (issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): Problem => {
  const path = [...above, ...issue.path];
  const nearest = issue.code === 'invalid_union' ? nearestBranch(issue.errors) : undefined;
  // A union may have its own message for a value of another type.
  const isOther = nearest?.code === 'invalid_type' && nearest.path.length === 0;
  if (nearest && (!isOther || issue.message === NO_FORM)) return toProblem(nearest, path);
  const missing = issue.message === MISSING;
  return { path, text: issue.message, missing, isOfWrongType: issue.code === 'invalid_type' && !missing };
};

const nearestBranch = (branches: readonly (readonly z.core.$ZodIssue[])[]): z.core.$ZodIssue | undefined => {
  const [first, ...others] = branches.flatMap(([issue]) => (issue ? [issue] : []));
  if (!first) return undefined;
  return others.reduce((best, issue) => (isNearer(issue, best) ? issue : best), first);
};

/** A branch that accepts the type of the value is nearer than one that does not. */
const isNearer = (issue: z.core.$ZodIssue, best: z.core.$ZodIssue): boolean =>
  issue.path.length === best.path.length
    ? best.code === 'invalid_type' && issue.code !== 'invalid_type'
    : issue.path.length > best.path.length;

const MOST_LISTED = 5;

/** Limits the texts to the first few. */
export const listed = (texts: readonly string[]): string[] =>
  texts.length <= MOST_LISTED
    ? [...texts]
    : [...texts.slice(0, MOST_LISTED), `and ${texts.length - MOST_LISTED} more`];

/** `messages[0].content` */
export const pathText = (path: readonly PropertyKey[]): string => z.core.toDotPath([...path]);

/** Returns all issues in one line: `messages[0].content: must be a string, not an array`. */
export const describeIssues = ({ issues }: z.core.$ZodError, above: readonly PropertyKey[] = []): string =>
  listed(issues.map((issue) => describe(issue, above))).join('; ');

const describe = (issue: z.core.$ZodIssue, above: readonly PropertyKey[]): string => {
  const { path, text, missing } = toProblem(issue, above);
  const at = pathText(path);
  if (at === '') return text;
  return missing ? `missing field '${at}'` : `${at}: ${text}`;
};
