import {
  anyObject,
  fields,
  flag,
  type JsonObject,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../data/guard.ts';

/** Results of test cases, as reported by eval runs and by report files. */

const Failure = object({ kind: text });
export type Failure = ReturnType<typeof Failure> & JsonObject;

const Tally = object({
  agent_id: withDefault(text, ''),
  tool: text,
  call_count: withDefault(number, 0),
  failure_count: withDefault(number, 0),
});

/** Only `fixture_id` and `passed` are required, because report files of other programs contain fewer fields. */
export const Report = object({
  fixture_id: text,
  passed: flag,
  failures: withDefault(list(Failure), []),
  final_text: withDefault(text, ''),
  ...fields(withDefault(number, 0), 'inference_count', 'tool_count', 'tool_failures'),
  ...fields(withDefault(number, 0), 'total_input_tokens', 'total_output_tokens', 'total_tokens'),
  ...fields(withDefault(number, 0), 'session_duration_ms', 'inference_error_count', 'revision_count'),
  ...fields(optional(number), 'elapsed_ms', 'cost_usd', 'judge_cost_usd', 'judge_score'),
  tool_calls_by_agent: withDefault(list(Tally), []),
  error_type: optional(text),
  runtime_failure: optional(anyObject),
  judge_reasoning: optional(text),
});
export type Report = ReturnType<typeof Report>;

const Cell = object({ model_id: text, agent_id: optional(text), variant_id: optional(text) });

export const Item = object({
  fixture_id: text,
  cell: optional(Cell),
  report: Report,
  trace_run_id: optional(text),
  sample_index: optional(number),
});
export type Item = ReturnType<typeof Item>;

/** `unplayable`: the test case has no recorded responses and was not executed, which the service counts as failed. */
export type Status = 'passed' | 'failed' | 'unplayable';

export const statusOf = ({ passed, runtime_failure }: Report): Status => {
  if (passed) return 'passed';
  return runtime_failure?.no_script === true ? 'unplayable' : 'failed';
};

/** The column of the matrix that a result belongs to; empty for a scripted run. */
export const columnOf = ({ cell }: Pick<Item, 'cell'>): string =>
  [cell?.model_id, cell?.agent_id, cell?.variant_id].filter((part) => part !== undefined).join(' · ');

/** The model, the agent and the sample within a test case. */
export const cellText = (item: Pick<Item, 'cell' | 'sample_index'>): string =>
  [columnOf(item), item.sample_index ? `#${item.sample_index + 1}` : '']
    .filter((part) => part !== '')
    .join(' · ');
