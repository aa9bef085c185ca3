import { z } from 'zod';
import { CutOff } from './cut-off.ts';
import { StructuredOutput } from './run.ts';

/** The result of one replay, and its failures (evals-and-traces.md 5.5, 5.6). */

const total = z.int().nonnegative();

/** Why a replay did not finish; at most one reason. */
export const RuntimeFailure = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('script_exhausted'), extra_calls: total }),
    z.object({ kind: z.literal('provider_script_unused'), remaining: total }),
    z.object({
      kind: z.literal('runtime_error'),
      message: z.string(),
      no_script: z
        .literal(true)
        .optional()
        .meta({ description: 'the fixture has no replayable script, and was not executed' }),
    }),
  ])
  .meta({ id: 'EvalRuntimeFailure', description: 'The reason why an item could not be executed.' });
export type RuntimeFailure = z.infer<typeof RuntimeFailure>;

const Count = z.object({ op: z.enum(['exactly', 'at_least', 'at_most']), n: total });

export const EvalFailure = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('answer_missing_phrase'), phrase: z.string() }),
    z.object({ kind: z.literal('answer_contains_excluded_phrase'), phrase: z.string() }),
    z.object({
      kind: z.literal('tool_sequence_mismatch'),
      expected: z.array(z.string()),
      actual: z.array(z.string()),
      mode: z.literal('ordered_subseq').optional(),
    }),
    z.object({ kind: z.literal('forbidden_tool_used'), tool: z.string() }),
    z.object({
      kind: z.literal('required_tool_call_not_satisfied'),
      name: z.string(),
      expected_count: Count.optional(),
      actual_matches: total,
      args_filter_set: z.literal(true).optional(),
      result_filter_set: z.literal(true).optional(),
    }),
    z.object({ kind: z.literal('token_budget_exceeded'), budget: total, actual: total }),
    z.object({ kind: z.literal('duration_exceeded'), budget_ms: total, actual_ms: total }),
    z.object({ kind: z.literal('expected_error_missing'), expected: z.string() }),
    z.object({ kind: z.literal('error_type_mismatch'), expected: z.string(), actual: z.string() }),
    z.object({ kind: z.literal('replay_runtime_failure'), failure: RuntimeFailure }),
    z.object({ kind: z.literal('judge_below_threshold'), threshold: z.number(), actual: z.number() }),
    z.object({ kind: z.literal('structured_mismatch'), message: z.string() }),
    z.object({
      kind: z.literal('scorer_failed'),
      scorer: z.string(),
      message: z.string(),
      score: z.number().optional(),
    }),
  ])
  .meta({ id: 'EvalFailure', description: 'A failed expectation.' });
export type EvalFailure = z.infer<typeof EvalFailure>;

export const ToolTally = z.object({
  agent_id: z.string(),
  tool: z.string(),
  call_count: total,
  failure_count: total,
  total_duration_ms: z.number(),
});
export type ToolTally = z.infer<typeof ToolTally>;

export const EvalReport = z
  .object({
    fixture_id: z.string(),
    passed: z.boolean(),
    failures: z.array(EvalFailure),
    final_text: z.string(),
    structured_output: StructuredOutput,
    inference_count: total.meta({ description: 'completed inferences' }),
    tool_count: total,
    tool_failures: total,
    total_input_tokens: total,
    total_output_tokens: total,
    total_tokens: total,
    cut_off: CutOff.optional(),
    session_duration_ms: total.meta({ description: 'run time of all turns' }),
    elapsed_ms: total.meta({ description: 'wall clock of the replay' }),
    tool_calls_by_agent: z.array(ToolTally).optional(),
    error_type: z.string().optional(),
    inference_error_count: total.optional(),
    runtime_failure: RuntimeFailure.optional(),
    cost_usd: z.number().optional(),
    judge_input_tokens: total
      .optional()
      .meta({ description: 'tokens of all judgements; not included in the other counts' }),
    judge_output_tokens: total.optional(),
    judge_cost_usd: z.number().optional().meta({ description: 'not included in cost_usd' }),
    revision_count: total.optional(),
    judge_score: z.number().optional(),
    judge_reasoning: z.string().optional(),
  })
  .meta({ id: 'EvalReport', description: 'The result of an item.' });
export type EvalReport = z.infer<typeof EvalReport>;
