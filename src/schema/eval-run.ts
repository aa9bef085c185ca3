import { z } from 'zod';
import { Expectation } from './dataset.ts';
import { nullsAbsent } from './endpoint.ts';
import { EvalReport } from './eval-report.ts';
import { JsonObject } from './json.ts';
import { listOf } from './list.ts';

/** Eval runs: requests, stored form and responses (evals-and-traces.md 6, 8). */

const u32 = z.int().nonnegative().max(4_294_967_295);
const u64 = z.int().nonnegative();

export const JudgeSpec = nullsAbsent(
  z.strictObject({
    model_id: z.string(),
    rubric: z.string().optional(),
    revise_max_retries: u32.optional(),
  }),
).meta({ id: 'EvalJudge', description: 'The judge model.' });
export type JudgeSpec = z.infer<typeof JudgeSpec>;

export const Variant = nullsAbsent(
  z.strictObject({ id: z.string().min(1), agent_overrides: JsonObject.optional() }),
).meta({ id: 'EvalVariant', description: 'A variant: the agent with overrides.' });
export type Variant = z.infer<typeof Variant>;

/**
 * The handling of tool calls in a live run: without tools, with the recorded results of the fixture, or with execution
 * of the agent's own tools, in which permission requests are denied.
 */
export const ToolMode = z.enum(['none', 'recorded', 'execute']);
export type ToolMode = z.infer<typeof ToolMode>;

const Live = {
  models: listOf(z.string()).optional(),
  agent_id: z.string().optional(),
  agents: listOf(z.string()).optional().meta({ description: 'an axis of the matrix; not with agent_id' }),
  agent_overrides: JsonObject.optional(),
  variants: listOf(Variant)
    .optional()
    .meta({ description: 'an axis of the matrix; not with agent_overrides' }),
  judge: JudgeSpec.optional(),
  samples: u32.optional(),
  max_walltime_secs: u64.optional().meta({ description: 'of a cell; default 60' }),
  max_total_tokens: u32.optional().meta({ description: 'of a cell; default 10000' }),
  tools: ToolMode.optional(),
};

const isAsync = z
  .boolean()
  .optional()
  .meta({ description: 'responds at once with 202, like `Prefer: respond-async`' });

export const EvalRunRequest = nullsAbsent(
  z.strictObject({
    dataset_id: z.string(),
    mode: z
      .enum(['scripted', 'live'])
      .optional()
      .meta({ description: 'default: live when models are given' }),
    ...Live,
    baseline_run_id: z.string().optional(),
    async: isAsync,
  }),
);
export type EvalRunRequest = z.infer<typeof EvalRunRequest>;

export const OnlineEvalRequest = nullsAbsent(
  z.strictObject({
    user_input: z.string(),
    ...Live,
    models: listOf(z.string()),
    expectations: Expectation.optional(),
    persist: z.boolean().optional(),
  }),
);
export type OnlineEvalRequest = z.infer<typeof OnlineEvalRequest>;

/** A column of the matrix; a key is present if its axis was requested. */
export const EvalCell = z
  .object({ model_id: z.string(), agent_id: z.string().optional(), variant_id: z.string().optional() })
  .meta({
    id: 'EvalCell',
    description: 'A column of the matrix; a key is present when its axis was requested.',
  });
export type EvalCell = z.infer<typeof EvalCell>;

export const EvalItem = z
  .object({
    fixture_id: z.string(),
    cell: EvalCell.optional(),
    report: EvalReport,
    trace_run_id: z.string().optional(),
    sample_index: u32.optional(),
  })
  .meta({ id: 'EvalItem', description: 'The execution of a fixture in a column of the matrix.' });
export type EvalItem = z.infer<typeof EvalItem>;

export const EvalMode = z.enum(['scripted', 'live']);
export type EvalMode = z.infer<typeof EvalMode>;

export const EvalStatus = z.enum(['running', 'cancelled', 'done']);
export type EvalStatus = z.infer<typeof EvalStatus>;

const Facts = {
  id: z.string(),
  dataset_id: z.string(),
  dataset_revision: u64,
  execution_mode: EvalMode,
};

const started_at_secs = z.int();

/** Fields of a run that is not done: its status, and the planned number of items. */
const Unfinished = {
  status: z.enum(['running', 'cancelled']).optional(),
  planned_item_count: z.int().optional(),
};

export const EvalRun = z
  .object({
    ...Facts,
    items: z.array(EvalItem),
    started_at_secs,
    ended_at_secs: z.int().optional().meta({ description: 'absent while the run executes' }),
    ...Unfinished,
  })
  .meta({ id: 'EvalRun', description: 'An eval run.' });
/**
 * An eval run with the reports of its items (evals-and-traces.md 6.2). Without `ended_at_secs` it is executing. Times
 * are in seconds since the epoch.
 *
 * @example
 * ```ts
 * const { items, ended_at_secs }: EvalRun = await client.evals.runs.start({ dataset_id: 'greetings' });
 * const failed = items.filter(({ report }) => !report.passed);
 * ```
 */
export type EvalRun = z.infer<typeof EvalRun>;

export const EvalAggregate = z
  .object({
    fixture_id: z.string(),
    cell: EvalCell.optional(),
    samples: z.int(),
    passed: z.int(),
    pass_rate: z.number(),
    pass_at_k: z.boolean(),
    pass_pow_k: z.boolean(),
  })
  .meta({ id: 'EvalAggregate', description: 'Sums over the samples of a cell.' });
export type EvalAggregate = z.infer<typeof EvalAggregate>;

export const EvalRunSummary = z
  .object({
    ...Facts,
    started_at_secs,
    ended_at_secs: z.int().optional(),
    item_count: z.int(),
    passed_count: z.int(),
    failed_count: z.int(),
    ...Unfinished,
    models: z
      .array(z.string())
      .optional()
      .meta({ description: 'models of a live run, in the order of the request' }),
    aggregates: z.array(EvalAggregate).optional(),
  })
  .meta({ id: 'EvalRunSummary', description: 'An eval run without its items.' });
/**
 * An eval run without its items (evals-and-traces.md 6.3). Times are in seconds since the epoch.
 *
 * @example
 * ```ts
 * const rateOf = ({ passed_count, item_count }: EvalRunSummary): number => passed_count / Math.max(1, item_count);
 * for await (const run of client.evals.runs.list()) console.log(run.id, rateOf(run));
 * ```
 */
export type EvalRunSummary = z.infer<typeof EvalRunSummary>;

const Key = {
  fixture_id: z.string(),
  cell: EvalCell.optional(),
  sample_index: u32.optional(),
};

const newFailures = z.array(z.string());

export const DiffEntry = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('unchanged'), ...Key }),
    z.object({ kind: z.literal('drift'), ...Key, fields: z.array(z.string()) }),
    z.object({ kind: z.literal('regression'), ...Key, new_failures: newFailures }),
    z.object({ kind: z.literal('fixed'), ...Key }),
    z.object({ kind: z.literal('still_failing'), ...Key, new_failures: newFailures }),
    z.object({ kind: z.literal('missing_from_new'), ...Key }),
    z.object({ kind: z.literal('newly_added'), ...Key, passed: z.boolean() }),
  ])
  .meta({ id: 'EvalDiffEntry', description: 'Change of an item since the baseline.' });
export type DiffEntry = z.infer<typeof DiffEntry>;

export const EvalDiff = z
  .object({ entries: z.array(DiffEntry) })
  .meta({ id: 'EvalDiff', description: 'Differences to the baseline.' });
export type EvalDiff = z.infer<typeof EvalDiff>;
