import {
  anyObject,
  flag,
  type Guarded,
  type JsonObject,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../data/guard.ts';

/** What came of playing test cases, as runs of the service and files of reports tell it. */

const Failure = object({ kind: text });
export type Failure = Guarded<typeof Failure> & JsonObject;

const Tally = object({
  agent_id: withDefault(text, ''),
  tool: text,
  call_count: withDefault(number, 0),
  failure_count: withDefault(number, 0),
});

/** Only who it is of and whether it passed has to be there: files of others have less than ours. */
export const Report = object({
  fixture_id: text,
  passed: flag,
  failures: withDefault(list(Failure), []),
  final_text: withDefault(text, ''),
  inference_count: withDefault(number, 0),
  tool_count: withDefault(number, 0),
  tool_failures: withDefault(number, 0),
  total_input_tokens: withDefault(number, 0),
  total_output_tokens: withDefault(number, 0),
  total_tokens: withDefault(number, 0),
  session_duration_ms: withDefault(number, 0),
  elapsed_ms: optional(number),
  tool_calls_by_agent: withDefault(list(Tally), []),
  error_type: optional(text),
  inference_error_count: withDefault(number, 0),
  runtime_failure: optional(anyObject),
  cost_usd: optional(number),
  revision_count: withDefault(number, 0),
  judge_score: optional(number),
  judge_reasoning: optional(text),
});
export type Report = Guarded<typeof Report>;

const Cell = object({ model_id: text, agent_id: optional(text), variant_id: optional(text) });
export type Cell = Guarded<typeof Cell>;

export const Item = object({
  fixture_id: text,
  cell: optional(Cell),
  report: Report,
  trace_run_id: optional(text),
  sample_index: optional(number),
});
export type Item = Guarded<typeof Item>;

export const KINDS = [
  'regression',
  'missing_from_new',
  'drift',
  'newly_added',
  'still_failing',
  'fixed',
  'unchanged',
] as const;
export type Kind = (typeof KINDS)[number];

export const DiffEntry = object({
  kind: text,
  fixture_id: text,
  cell: optional(Cell),
  sample_index: optional(number),
  fields: withDefault(list(text), []),
  new_failures: withDefault(list(text), []),
  passed: optional(flag),
});
export type DiffEntry = Guarded<typeof DiffEntry>;

type Key = { fixture_id: string; cell?: Cell | undefined; sample_index?: number | undefined };

/** What is compared with what. */
export const keyOf = ({ fixture_id, cell, sample_index = 0 }: Key): string =>
  JSON.stringify([
    fixture_id,
    cell?.model_id ?? null,
    cell?.agent_id ?? null,
    cell?.variant_id ?? null,
    sample_index,
  ]);

/** Below the fixture: which model, which agent, which sample. */
export const cellText = ({ cell, sample_index }: Key): string =>
  [cell?.model_id, cell?.agent_id, cell?.variant_id, sample_index ? `#${sample_index + 1}` : undefined]
    .filter((part) => part !== undefined)
    .join(' · ');
