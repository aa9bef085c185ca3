import { z } from 'zod';
import { isObject, nullsAbsent, withoutNulls } from './endpoint.ts';
import { Json, JsonObject } from './json.ts';

/**
 * Test cases of agents with their expectations (evals-and-traces.md 3), as stored and as sent.
 *
 * Guarantees: a parsed value is in its normal form: null is treated as absent, fields that the contract omits when
 * empty are omitted, and unknown keys are removed. Parsing it again changes nothing.
 */

const u32 = z.int().nonnegative().max(4_294_967_295);
const i32 = z.int().min(-2_147_483_648).max(2_147_483_647);
const u64 = z.int().nonnegative();

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0);

/** Removes the given keys if their values are empty. */
const lean = <Of extends object>(value: Of, keys: readonly (keyof Of)[]): Of =>
  Object.fromEntries(
    Object.entries(value).filter(([key, each]) => !(keys.includes(key as keyof Of) && isEmpty(each))),
  ) as Of;

/** Maximum numbers of elements per dataset, fixture or expectation. */
export const MOST = {
  fixtures: 100_000,
  events: 20_000,
  turns: 1000,
  results: 20_000,
  texts: 1000,
  matchers: 1000,
  scorers: 100,
} as const;

const texts = z.array(z.string()).max(MOST.texts).optional();

export const ScriptTokens = nullsAbsent(
  z.object({
    prompt_tokens: i32.optional(),
    completion_tokens: i32.optional(),
    total_tokens: i32.optional(),
    cache_read_tokens: i32.optional(),
    cache_creation_tokens: i32.optional(),
    thinking_tokens: i32.optional(),
  }),
);
export type ScriptTokens = z.infer<typeof ScriptTokens>;

const tokens = ScriptTokens.optional().transform((given) => given ?? {});

/** Keeps null arguments of a tool, which are valid, and omits an empty text next to a call. */
const normalEvent = (given: unknown): unknown => {
  const event = withoutNulls(given);
  if (!isObject(given) || !isObject(event) || event.kind !== 'tool_call') return event;
  const { content, ...call } = event;
  return {
    ...call,
    ...(content !== '' && content !== undefined && { content }),
    ...(given.arguments === null && { arguments: null }),
  };
};

/** One scripted response of a model (3.3). */
export const ScriptEvent = z
  .preprocess(
    normalEvent,
    z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('chat_response'),
        content: z.string(),
        tokens,
        finish_reason: z.enum(['EndTurn', 'MaxTokens', 'ToolUse', 'StopSequence']).default('EndTurn'),
      }),
      z.object({
        kind: z.literal('tool_call'),
        id: z.string(),
        name: z.string(),
        arguments: Json,
        content: z.string().optional().meta({ description: 'text before the call; omitted when empty' }),
        tokens,
      }),
      z.object({ kind: z.literal('error'), error_type: z.string(), message: z.string().default('') }),
    ]),
  )
  .meta({ id: 'ScriptEvent', description: 'The completions of the scripted model.' });
export type ScriptEvent = z.infer<typeof ScriptEvent>;

const script = z.array(ScriptEvent).max(MOST.events).optional();

export const DialogueTurn = nullsAbsent(
  z.object({
    user_input: z.string(),
    provider_script: script,
    provider_script_error: z.string().optional(),
  }),
).transform((turn) => lean(turn, ['provider_script']));
export type DialogueTurn = z.infer<typeof DialogueTurn>;

const MockResponse = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('error'), error_type: z.string(), message: z.string() }),
]);

export const ToolCallMatcher = nullsAbsent(
  z.object({
    name: z.string(),
    args_subset: Json.optional(),
    result_subset: Json.optional(),
    count: z.object({ op: z.enum(['exactly', 'at_least', 'at_most']), n: u32 }).optional(),
  }),
).meta({ id: 'ToolCallMatcher', description: 'An expected tool call.' });
export type ToolCallMatcher = z.infer<typeof ToolCallMatcher>;

/** Measures of the final text in addition to phrases. */
export const Scorer = nullsAbsent(
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('equals'),
      text: z.string(),
      ignore_case: z
        .boolean()
        .optional()
        .meta({ description: 'also ignore leading and trailing white space' }),
    }),
    z.object({ kind: z.literal('matches'), pattern: z.string().meta({ description: 'RE2 syntax' }) }),
    z.object({
      kind: z.literal('similar'),
      text: z.string(),
      min_score: z.number().min(0).max(1).meta({ description: '1 - edit distance / longer length' }),
    }),
    z.object({
      kind: z.literal('json'),
      schema: JsonObject.optional().meta({ description: 'JSON Schema that the parsed text must match' }),
      subset: Json.optional().meta({ description: 'values that the parsed text must contain' }),
    }),
  ]),
).meta({ id: 'Scorer', description: 'The scoring of a fixture.' });
export type Scorer = z.infer<typeof Scorer>;

/** The range of judge scores is checked on writes, with a separate message. */
const judgeScore = z.custom<number>().check(({ value, issues }) => {
  if (typeof value !== 'number') issues.push({ code: 'invalid_type', expected: 'number', input: value });
});

const ExpectedOutput = nullsAbsent(
  z.object({
    matches: Json.optional().meta({ description: 'values that the structured result must contain' }),
    schema: JsonObject.optional().meta({ description: 'JSON Schema that the structured result must match' }),
  }),
).meta({
  id: 'ExpectedOutput',
  description: 'Expectations on the structured result; without keys: a result exists.',
});
export type ExpectedOutput = z.infer<typeof ExpectedOutput>;

const EXPECTATION_LISTS = [
  'final_answer_contains',
  'final_answer_excludes',
  'tool_sequence',
  'forbidden_tools',
  'required_tool_calls',
  'scorers',
] as const;

export const Expectation = nullsAbsent(
  z.object({
    final_answer_contains: texts,
    final_answer_excludes: texts,
    tool_sequence: texts,
    tool_sequence_mode: z.enum(['exact', 'ordered_subseq']).optional(),
    forbidden_tools: texts,
    required_tool_calls: z.array(ToolCallMatcher).max(MOST.matchers).optional(),
    max_tokens_total: u32.optional(),
    max_duration_ms: u64.optional(),
    min_judge_score: judgeScore.optional().meta({ type: 'number', description: 'within 0 and 1' }),
    expected_error_type: z.string().optional(),
    scorers: z.array(Scorer).max(MOST.scorers).optional(),
    structured: ExpectedOutput.optional(),
  }),
)
  .transform((given) => {
    const { tool_sequence_mode: mode, ...rest } = lean(given, EXPECTATION_LISTS);
    return { ...rest, ...(mode === 'ordered_subseq' && { tool_sequence_mode: mode }) };
  })
  .meta({ id: 'Expectation', description: 'Expectations on the execution of a fixture.' });
export type Expectation = z.infer<typeof Expectation>;

/** The comparison mode of tool sequences alone is no constraint. */
export const constrains = (expected: Expectation): boolean =>
  Object.keys(expected).some((key) => key !== 'tool_sequence_mode');

/** A recorded tool result, for eval runs that replay tools. */
export const RecordedResult = z
  .object({ name: z.string(), arguments: Json, result: Json, is_error: z.literal(true).optional() })
  .meta({ id: 'RecordedResult', description: 'A recorded result of a call.' });
export type RecordedResult = z.infer<typeof RecordedResult>;

export const Fixture = nullsAbsent(
  z.object({
    id: z.string(),
    description: z.string().optional(),
    user_input: z.string(),
    provider_script: script,
    provider_script_error: z.string().optional(),
    source_run_id: z.string().optional(),
    source_model_id: z.string().optional(),
    allow_unused_provider_script: z.boolean().optional(),
    mock_response: MockResponse.optional().transform((given) => given ?? { kind: 'text' as const, text: '' }),
    expect: Expectation.optional().transform((given) => given ?? {}),
    continued_turns: z.array(DialogueTurn).max(MOST.turns).optional(),
    tool_results: z.array(RecordedResult).max(MOST.results).optional(),
  }),
)
  .transform((fixture) =>
    lean(fixture, ['provider_script', 'allow_unused_provider_script', 'continued_turns', 'tool_results']),
  )
  .meta({ id: 'Fixture', description: 'A conversation to execute and its expectations.' });
export type Fixture = z.infer<typeof Fixture>;

export const DatasetSpec = nullsAbsent(
  z.object({ description: z.string().optional(), fixtures: z.array(Fixture).max(MOST.fixtures).optional() }),
)
  .transform((spec) => lean(spec, ['description', 'fixtures']))
  .meta({ id: 'DatasetSpec', description: 'The content of a dataset.' });
export type DatasetSpec = z.infer<typeof DatasetSpec>;

export const DatasetMeta = z
  .object({
    source: z.object({ kind: z.enum(['user', 'builtin']), binary_version: z.string().optional() }),
    hidden: z.boolean(),
    created_at: z.int().meta({ description: 'milliseconds since the epoch' }),
    updated_at: z.int(),
    revision: z.int(),
  })
  .meta({ id: 'DatasetMeta', description: 'Revision and times.' });
export type DatasetMeta = z.infer<typeof DatasetMeta>;

export const Dataset = z
  .object({ spec: DatasetSpec, meta: DatasetMeta })
  .meta({ id: 'Dataset', description: 'The dataset.' });
/**
 * A dataset: conversations to execute with their expectations (evals-and-traces.md 3.1). The revision of its `meta`
 * changes with every write.
 *
 * @example
 * ```ts
 * const { spec, meta }: Dataset = await client.evals.datasets.get('greetings');
 * await client.evals.datasets.replace('greetings', { ...spec, description: 'Greetings' }, meta.revision);
 * ```
 */
export type Dataset = z.infer<typeof Dataset>;

/** Dataset id of eval runs whose fixture is not stored. */
export const AD_HOC = '_adhoc';

/** Whether `whole` contains `part`: objects by their keys, arrays with equal length item by item. */
export const contains = (whole: unknown, part: unknown): boolean => {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) &&
      whole.length === part.length &&
      part.every((each, index) => contains(whole[index], each))
    );
  }
  if (!isObject(part)) return Object.is(whole, part) || whole === part;
  return (
    isObject(whole) &&
    Object.entries(part).every(([key, each]) => Object.hasOwn(whole, key) && contains(whole[key], each))
  );
};
