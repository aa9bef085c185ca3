import { isObject, type JsonObject } from '../../data/guard.ts';
import { same } from '../../data/spec.ts';
import { ID } from '../../entry/entry.ts';
import type { Say } from '../../i18n/locale.ts';
import type { texts } from './texts.ts';

/** A test case while it is edited: as texts, of which a fixture is made when all of them can be read. */

export type Typed = {
  id: string;
  description: string;
  input: string;
  script: string;
  turns: string;
  contains: string;
  excludes: string;
  tools: string;
  isLoose: boolean;
  forbidden: string;
  tokens: string;
  duration: string;
  judge: string;
  error: string;
  more: string;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): string => (typeof value === 'number' ? String(value) : '');
const linesOf = (value: unknown): string =>
  Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('\n') : '';
const jsonOf = (value: unknown): string =>
  value === undefined || (Array.isArray(value) && value.length === 0) ? '' : JSON.stringify(value, null, 2);

/** Criteria with a field of their own. */
const OWN = [
  'final_answer_contains',
  'final_answer_excludes',
  'tool_sequence',
  'tool_sequence_mode',
  'forbidden_tools',
  'max_tokens_total',
  'max_duration_ms',
  'min_judge_score',
  'expected_error_type',
];

export const typedOf = (fixture: JsonObject): Typed => {
  const expect = isObject(fixture.expect) ? fixture.expect : {};
  const more = Object.entries(expect).filter(([key]) => !OWN.includes(key));
  return {
    id: textOf(fixture.id),
    description: textOf(fixture.description),
    input: textOf(fixture.user_input),
    script: jsonOf(fixture.provider_script),
    turns: jsonOf(fixture.continued_turns),
    contains: linesOf(expect.final_answer_contains),
    excludes: linesOf(expect.final_answer_excludes),
    tools: linesOf(expect.tool_sequence),
    isLoose: expect.tool_sequence_mode === 'ordered_subseq',
    forbidden: linesOf(expect.forbidden_tools),
    tokens: numberOf(expect.max_tokens_total),
    duration: numberOf(expect.max_duration_ms),
    judge: numberOf(expect.min_judge_score),
    error: textOf(expect.expected_error_type),
    more: more.length === 0 ? '' : JSON.stringify(Object.fromEntries(more), null, 2),
  };
};

export type Problems = Partial<Record<keyof Typed, string>>;

type Key = keyof typeof texts.en;

const jsonProblem = (
  typed: string,
  isRight: (value: unknown) => boolean,
  t: Say<Key>,
): string | undefined => {
  if (typed.trim() === '') return undefined;
  try {
    return isRight(JSON.parse(typed)) ? undefined : t('problem.list');
  } catch (error) {
    return t('problem.json', { why: error instanceof Error ? error.message : '' });
  }
};

const countProblem = (typed: string, t: Say<Key>): string | undefined =>
  typed.trim() === '' || /^\d+$/.test(typed.trim()) ? undefined : t('problem.number');

const scoreProblem = (typed: string, t: Say<Key>): string | undefined => {
  const score = Number(typed);
  return typed.trim() === '' || (score >= 0 && score <= 1) ? undefined : t('problem.score');
};

/** @param taken ids of the other test cases */
export const problemsOf = (typed: Typed, taken: ReadonlySet<string>, t: Say<Key>): Problems => {
  const idProblem =
    typed.id === ''
      ? t('problem.required')
      : !ID.test(typed.id)
        ? t('problem.id')
        : taken.has(typed.id)
          ? t('problem.taken')
          : undefined;
  const found: Problems = {
    id: idProblem,
    input: typed.input.trim() === '' ? t('problem.required') : undefined,
    script: jsonProblem(typed.script, Array.isArray, t),
    turns: jsonProblem(typed.turns, Array.isArray, t),
    more: jsonProblem(typed.more, isObject, t),
    tokens: countProblem(typed.tokens, t),
    duration: countProblem(typed.duration, t),
    judge: scoreProblem(typed.judge, t),
  };
  return Object.fromEntries(Object.entries(found).filter(([, text]) => text !== undefined));
};

const listIn = (typed: string): string[] | undefined => {
  const lines = typed.split('\n').filter((line) => line.trim() !== '');
  return lines.length === 0 ? undefined : lines;
};

const numberIn = (typed: string): number | undefined => (typed.trim() === '' ? undefined : Number(typed));

const jsonIn = (typed: string): unknown => (typed.trim() === '' ? undefined : JSON.parse(typed));

const present = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));

/** Relies on `problemsOf` having found none. What the form has no field for stays as it was. */
export const fixtureOf = (typed: Typed, before: JsonObject): JsonObject => {
  const more = jsonIn(typed.more);
  const expect = present({
    ...(isObject(more) ? more : {}),
    final_answer_contains: listIn(typed.contains),
    final_answer_excludes: listIn(typed.excludes),
    tool_sequence: listIn(typed.tools),
    tool_sequence_mode: typed.isLoose && listIn(typed.tools) ? 'ordered_subseq' : undefined,
    forbidden_tools: listIn(typed.forbidden),
    max_tokens_total: numberIn(typed.tokens),
    max_duration_ms: numberIn(typed.duration),
    min_judge_score: numberIn(typed.judge),
    expected_error_type: typed.error.trim(),
  });
  return present({
    ...before,
    id: typed.id,
    description: typed.description,
    user_input: typed.input,
    provider_script: jsonIn(typed.script),
    continued_turns: jsonIn(typed.turns),
    expect,
  });
};

/** How each criterion is told; others are told by their names. */
const CRITERIA = {
  final_answer_contains: 'holds.contains',
  final_answer_excludes: 'holds.excludes',
  tool_sequence: 'holds.tools',
  forbidden_tools: 'holds.forbidden',
  max_tokens_total: 'holds.tokens',
  max_duration_ms: 'holds.duration',
  min_judge_score: 'holds.judge',
  expected_error_type: 'holds.error',
} as const satisfies Record<string, Key>;

const isCriterion = (name: string): name is keyof typeof CRITERIA => Object.hasOwn(CRITERIA, name);

const wordsOf = (value: unknown): string =>
  (Array.isArray(value) ? value : [value])
    .map((one) => (typeof one === 'object' ? '…' : String(one)))
    .join(', ');

/** In a few words, what has to hold. */
export const summaryOf = (expect: JsonObject, t: Say<Key>): string =>
  Object.entries(expect)
    .filter(([name]) => name !== 'tool_sequence_mode')
    .map(([name, value]) =>
      isCriterion(name) ? t(CRITERIA[name], { value: wordsOf(value) }) : `${name}: ${wordsOf(value)}`,
    )
    .join('; ');

/** A name that nobody has yet. */
export const freeId = (id: string, taken: ReadonlySet<string>): string => {
  for (let n = 2; ; n += 1) if (!taken.has(`${id}-${n}`)) return `${id}-${n}`;
};

/**
 * What was changed of a test case, put into what it is now: fields that were left alone, and criteria, are those of
 * whoever was faster.
 */
export const changedIn = (now: JsonObject, before: JsonObject, after: JsonObject): JsonObject => {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !same(before[field], after[field]),
  );
  const changes = fields.map((field): [string, unknown] => {
    const [other, was, own] = [now[field], before[field], after[field]];
    return [field, isObject(other) && isObject(was) && isObject(own) ? changedIn(other, was, own) : own];
  });
  return present({ ...now, ...Object.fromEntries(changes) });
};

/** Changed in the place of the one that it was; behind the last where that is new, or is gone meanwhile. */
export const withFixture = (
  fixtures: readonly JsonObject[],
  id: string | undefined,
  fixture: JsonObject,
  before: JsonObject = {},
): JsonObject[] =>
  fixtures.some((other) => other.id === id)
    ? fixtures.map((other) => (other.id === id ? changedIn(other, before, fixture) : other))
    : [...fixtures, fixture];

/** What a file holds: a dataset, its spec, or a list of test cases. @throws Error */
export const fixturesIn = (text: string): JsonObject[] => {
  const value: unknown = JSON.parse(text);
  const spec = isObject(value) && isObject(value.spec) ? value.spec : value;
  const list = isObject(spec) ? spec.fixtures : spec;
  if (!Array.isArray(list)) throw new Error('fixtures');
  return list.filter(isObject);
};
