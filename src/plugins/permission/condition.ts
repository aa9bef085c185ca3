import { Invalid } from '../../schema/outcome.ts';

/** Conditions on the arguments of a call: `path op "value", path2 op "value2"` (agent-loop.md 14.1). */

export type Segment =
  | { kind: 'key'; key: string }
  | { kind: 'any_key' }
  | { kind: 'index'; index: number }
  | { kind: 'any_index' };

/** From the most to the least precise. */
export const OPERATORS = ['=', '~', '=~', '!=', '!~', '!=~'] as const;
export type Operator = (typeof OPERATORS)[number];

export type Condition = { path: readonly Segment[]; operator: Operator; value: string };

/** A text and the position up to which it was parsed. */
export type Cursor = { readonly text: string; at: number };

const BLANKS = /\s*/y;
const KEY = /\*|[^\s.,"=!~*[\]()]+/y;
const INDEX = /\[(\*|\d+)\]/y;
const OPERATOR = /=~|!=~|!=|!~|=|~/y;
const VALUE = /"((?:[^"\\]|\\[\s\S])*)"/y;

/** Matches `expression` at the cursor, and moves the cursor past the match. */
const take = (cursor: Cursor, expression: RegExp): RegExpExecArray | undefined => {
  expression.lastIndex = cursor.at;
  const found = expression.exec(cursor.text);
  if (found) cursor.at = expression.lastIndex;
  return found ?? undefined;
};

/** True when the text can only be a condition: a path, an operator and a quote. */
export const beginsCondition = (text: string, at: number): boolean => {
  const cursor = { text, at };
  return pathAt(cursor) !== undefined && operatorAt(cursor) !== undefined && text[cursor.at] === '"';
};

/** Parses one or more conditions; the cursor ends after the last. @throws Invalid with the position */
export const conditionsAt = (cursor: Cursor): Condition[] => {
  const conditions: Condition[] = [];
  do {
    if (conditions.length > 0) cursor.at += 1;
    conditions.push(conditionAt(cursor));
    take(cursor, BLANKS);
  } while (cursor.text[cursor.at] === ',');
  return conditions;
};

const conditionAt = (cursor: Cursor): Condition => {
  const path = pathAt(cursor) ?? failAt(cursor, 'a path');
  const operator = operatorAt(cursor) ?? failAt(cursor, `one of ${OPERATORS.join(' ')}`);
  const [, quoted] = take(cursor, VALUE) ?? failAt(cursor, 'a value in double quotes');
  return { path, operator, value: (quoted ?? '').replace(/\\(["\\])/g, '$1') };
};

/** @throws Invalid */
export const failAt = ({ text, at }: Cursor, expected: string): never => {
  throw new Invalid(`pattern ${JSON.stringify(text)}: expected ${expected} at character ${at + 1}`);
};

const pathAt = (cursor: Cursor): Segment[] | undefined => {
  take(cursor, BLANKS);
  const segments: Segment[] = [];
  do {
    if (segments.length > 0) cursor.at += 1;
    const [key] = take(cursor, KEY) ?? [];
    if (key === undefined) return undefined;
    segments.push(key === '*' ? { kind: 'any_key' } : { kind: 'key', key });
    for (let found = take(cursor, INDEX); found; found = take(cursor, INDEX)) {
      segments.push(found[1] === '*' ? { kind: 'any_index' } : { kind: 'index', index: Number(found[1]) });
    }
  } while (cursor.text[cursor.at] === '.');
  return segments;
};

const operatorAt = (cursor: Cursor): Operator | undefined => {
  take(cursor, BLANKS);
  const [operator] = take(cursor, OPERATOR) ?? [];
  take(cursor, BLANKS);
  return OPERATORS.find((known) => known === operator);
};

export const formatCondition = ({ path, operator, value }: Condition): string =>
  `${path.map(formatSegment).join('')} ${operator} "${value.replace(/["\\]/g, '\\$&')}"`;

const formatSegment = (segment: Segment, position: number): string => {
  const dot = position === 0 ? '' : '.';
  switch (segment.kind) {
    case 'key':
      return `${dot}${segment.key}`;
    case 'any_key':
      return `${dot}*`;
    case 'index':
      return `[${segment.index}]`;
    case 'any_index':
      return '[*]';
  }
};
