import distance from 'leven';
import {
  contains,
  type Expectation,
  type ExpectedOutput,
  type Scorer,
  type ToolCallMatcher,
} from '../schema/dataset.ts';
import type { EvalFailure, RuntimeFailure } from '../schema/eval-report.ts';
import type { Json } from '../schema/json.ts';
import { outputSchemaProblem } from '../schema/output.ts';
import { compileExpression } from '../schema/regex.ts';
import { outputProblems } from '../tools/output-check.ts';
import { problemsBySchema } from '../tools/validate.ts';

/** Compares a replay with its expectation and returns the failures, in the order of evals-and-traces.md 5.5. */

export type ObservedCall = {
  name: string;
  arguments: Json;
  /** Undefined if the call has no result. */
  result: Json | undefined;
};

export type Observed = {
  final_text: string;
  /** Undefined if the last run has no structured result. */
  structured_output: Json | undefined;
  calls: readonly ObservedCall[];
  total_tokens: number;
  duration_ms: number;
  error_type: string | undefined;
  runtime_failure: RuntimeFailure | undefined;
  judge_score: number | undefined;
};

export const findFailures = async (expect: Expectation, seen: Observed): Promise<EvalFailure[]> => [
  ...phraseFailures(expect, seen.final_text),
  ...toolFailures(expect, seen.calls),
  ...budgetFailures(expect, seen),
  ...errorFailures(expect, seen.error_type),
  ...(seen.runtime_failure
    ? [{ kind: 'replay_runtime_failure' as const, failure: seen.runtime_failure }]
    : []),
  ...judgeFailures(expect, seen.judge_score),
  ...(await structuredFailures(expect.structured, seen.structured_output)),
  ...(await scorerFailures(expect.scorers ?? [], seen.final_text)),
];

const phraseFailures = (
  { final_answer_contains = [], final_answer_excludes = [] }: Expectation,
  text: string,
): EvalFailure[] => [
  ...final_answer_contains
    .filter((phrase) => !text.includes(phrase))
    .map((phrase) => ({ kind: 'answer_missing_phrase' as const, phrase })),
  ...final_answer_excludes
    .filter((phrase) => text.includes(phrase))
    .map((phrase) => ({ kind: 'answer_contains_excluded_phrase' as const, phrase })),
];

const structuredFailures = async (
  expected: ExpectedOutput | undefined,
  value: Json | undefined,
): Promise<EvalFailure[]> => {
  if (!expected) return [];
  const mismatch = (message: string): EvalFailure => ({ kind: 'structured_mismatch', message });
  if (value === undefined) return [mismatch('the run has no structured result')];
  const { matches, schema } = expected;
  const isMet = matches === undefined || contains(value, matches);
  const unusable = schema && outputSchemaProblem(schema);
  const problems = schema && unusable === undefined ? await outputProblems(schema, value) : [];
  return [
    ...(isMet ? [] : [mismatch(`the result does not contain ${JSON.stringify(matches)}`)]),
    ...(unusable === undefined ? [] : [mismatch(`the expected schema ${unusable}`)]),
    ...(problems.length > 0 ? [mismatch(problems.join('; '))] : []),
  ];
};

const toolFailures = (expect: Expectation, calls: readonly ObservedCall[]): EvalFailure[] => {
  const actual = calls.map(({ name }) => name);
  return [
    ...sequenceFailures(expect, actual),
    ...(expect.forbidden_tools ?? [])
      .filter((tool) => actual.includes(tool))
      .map((tool) => ({ kind: 'forbidden_tool_used' as const, tool })),
    ...(expect.required_tool_calls ?? []).flatMap((matcher) => matcherFailures(matcher, calls)),
  ];
};

const sequenceFailures = (
  { tool_sequence: expected = [], tool_sequence_mode: mode }: Expectation,
  actual: readonly string[],
): EvalFailure[] => {
  if (expected.length === 0) return [];
  const isMet = mode === 'ordered_subseq' ? isSubsequence(expected, actual) : isSame(expected, actual);
  if (isMet) return [];
  const failure = { kind: 'tool_sequence_mismatch' as const, expected, actual: [...actual] };
  return [mode === 'ordered_subseq' ? { ...failure, mode } : failure];
};

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((each, index) => each === other[index]);

const isSubsequence = (part: readonly string[], whole: readonly string[]): boolean => {
  let met = 0;
  for (const each of whole) if (each === part[met]) met += 1;
  return met === part.length;
};

const COUNTS: Record<NonNullable<ToolCallMatcher['count']>['op'], (found: number, n: number) => boolean> = {
  exactly: (found, n) => found === n,
  at_least: (found, n) => found >= n,
  at_most: (found, n) => found <= n,
};

const matcherFailures = (matcher: ToolCallMatcher, calls: readonly ObservedCall[]): EvalFailure[] => {
  const { name, args_subset, result_subset, count } = matcher;
  const found = calls.filter(
    (call) =>
      call.name === name &&
      (args_subset === undefined || contains(call.arguments, args_subset)) &&
      (result_subset === undefined || (call.result !== undefined && contains(call.result, result_subset))),
  ).length;
  const { op, n } = count ?? { op: 'at_least', n: 1 };
  if (COUNTS[op](found, n)) return [];
  return [
    {
      kind: 'required_tool_call_not_satisfied',
      name,
      ...(count && { expected_count: count }),
      actual_matches: found,
      ...(args_subset !== undefined && { args_filter_set: true as const }),
      ...(result_subset !== undefined && { result_filter_set: true as const }),
    },
  ];
};

const budgetFailures = (
  { max_tokens_total: budget, max_duration_ms: budget_ms }: Expectation,
  { total_tokens: actual, duration_ms: actual_ms }: Observed,
): EvalFailure[] => [
  ...(budget !== undefined && actual > budget
    ? [{ kind: 'token_budget_exceeded' as const, budget, actual }]
    : []),
  ...(budget_ms !== undefined && actual_ms > budget_ms
    ? [{ kind: 'duration_exceeded' as const, budget_ms, actual_ms }]
    : []),
];

const errorFailures = (
  { expected_error_type: expected }: Expectation,
  actual: string | undefined,
): EvalFailure[] => {
  if (expected === undefined || expected === actual) return [];
  return [
    actual === undefined
      ? { kind: 'expected_error_missing', expected }
      : { kind: 'error_type_mismatch', expected, actual },
  ];
};

const judgeFailures = (
  { min_judge_score: threshold }: Expectation,
  actual: number | undefined,
): EvalFailure[] =>
  threshold !== undefined && actual !== undefined && actual < threshold
    ? [{ kind: 'judge_below_threshold', threshold, actual }]
    : [];

const scorerFailures = async (scorers: readonly Scorer[], text: string): Promise<EvalFailure[]> => {
  const found: EvalFailure[] = [];
  for (const scorer of scorers) {
    const problem = await problemOf(scorer, text);
    if (problem) found.push({ kind: 'scorer_failed', scorer: scorer.kind, ...problem });
  }
  return found;
};

type Problem = { message: string; score?: number };

const problemOf = async (scorer: Scorer, text: string): Promise<Problem | undefined> => {
  switch (scorer.kind) {
    case 'equals':
      return isEqual(scorer, text) ? undefined : { message: 'the answer is another text' };
    case 'matches': {
      const expression = compileExpression(scorer.pattern);
      if (expression instanceof Error)
        return { message: `the pattern cannot be used: ${expression.message}` };
      return expression.test(text) ? undefined : { message: 'the answer does not match the pattern' };
    }
    case 'similar': {
      const score = similarity(scorer.text, text);
      if (score >= scorer.min_score) return undefined;
      return { message: `the answer is similar by ${score}, not by ${scorer.min_score}`, score };
    }
    case 'json':
      return jsonProblem(scorer, text);
  }
};

const isEqual = (
  { text: expected, ignore_case }: Extract<Scorer, { kind: 'equals' }>,
  text: string,
): boolean => (ignore_case ? expected.trim().toLowerCase() === text.trim().toLowerCase() : expected === text);

/**
 * The distance takes time proportional to the product of the lengths; only this many leading characters are compared.
 */
const MOST_COMPARED = 10_000;

const similarity = (expected: string, text: string): number => {
  const longer = Math.max(expected.length, text.length);
  if (longer === 0) return 1;
  const [one, other] = [expected.slice(0, MOST_COMPARED), text.slice(0, MOST_COMPARED)];
  const cut = longer - Math.max(one.length, other.length);
  return Math.max(0, 1 - (distance(one, other) + cut) / longer);
};

const jsonProblem = async (
  { schema, subset }: Extract<Scorer, { kind: 'json' }>,
  text: string,
): Promise<Problem | undefined> => {
  const parsed = parsedJson(text);
  if (parsed === undefined) return { message: 'the answer is not JSON' };
  if (subset !== undefined && !contains(parsed, subset)) {
    return { message: 'the response does not contain the expected text' };
  }
  if (!schema) return undefined;
  try {
    const problems = await problemsBySchema(schema, parsed);
    return problems.length === 0 ? undefined : { message: problems.join('; ') };
  } catch (error) {
    return {
      message: `the schema cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
};

const FENCE = '```';

/** Removes the code fence that models often add. A single regular expression would take quadratic time. */
export const withoutFence = (text: string): string => {
  const fenced = text.trim();
  const opened = fenced.indexOf('\n');
  const isFenced = fenced.startsWith(FENCE) && fenced.endsWith(FENCE) && opened > 0;
  if (!isFenced || !/^[a-z]*$/i.test(fenced.slice(FENCE.length, opened).trimEnd())) return text;
  return fenced.slice(opened + 1, -FENCE.length);
};

const parsedJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(withoutFence(text));
  } catch {
    return undefined;
  }
};
