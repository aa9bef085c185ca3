/**
 * Validates texts that are sent as a key or as the value of a header. HTTP libraries quote a rejected value in their
 * errors, which would disclose a key with a line break to every reader of the error: it is rejected before. No problem
 * that is returned here repeats the text.
 */

const OUTER_BLANKS = /^\s|\s$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are refused.
const CONTROLS = /[\x00-\x1f\x7f]/;
const BEYOND_ASCII = /[^\x20-\x7e]/;
/** Headers are sent as Latin-1. */
const BEYOND_HEADERS = /[^\x20-\x7e\x80-\xff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a variable may have several lines, such as a PEM key.
const CONTROLS_IN_LINES = /[\x00-\x08\x0b-\x1f\x7f]/;

const OUTER = 'must not begin or end with blanks or line breaks';
const INNER = 'must not contain line breaks or other control characters';

/** Returns why a text is not a valid key, or undefined. */
export const keyProblem = (key: string): string | undefined => {
  if (OUTER_BLANKS.test(key)) return OUTER;
  if (CONTROLS.test(key)) return INNER;
  return BEYOND_ASCII.test(key) ? 'must contain printable ASCII characters only' : undefined;
};

/** Returns why a text cannot be the value of a header, or undefined. */
export const headerProblem = (value: string): string | undefined => {
  if (OUTER_BLANKS.test(value)) return OUTER;
  if (CONTROLS.test(value)) return INNER;
  return BEYOND_HEADERS.test(value) ? 'must contain only characters that a header can hold' : undefined;
};

/** Returns why a text cannot be the value of an environment variable, or undefined. */
export const variableProblem = (value: string): string | undefined => {
  if (OUTER_BLANKS.test(value)) return OUTER;
  return CONTROLS_IN_LINES.test(value)
    ? 'must not contain control characters other than tabs and line feeds'
    : undefined;
};

const LONGEST_NAME = 100;

/** Returns the problem of the first value that violates a rule, after its name in brackets. */
export const problemIn = (
  values: Readonly<Record<string, unknown>>,
  rule: (value: string) => string | undefined,
): string | undefined => {
  for (const [name, value] of Object.entries(values)) {
    const problem = typeof value === 'string' ? rule(value) : undefined;
    if (problem !== undefined) return `[${name.slice(0, LONGEST_NAME)}] ${problem}`;
  }
  return undefined;
};
