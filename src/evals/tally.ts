import type { TraceFact } from '../loop/trace-fact.ts';
import type { InferenceEnd } from '../models/model.ts';
import { cutOffOf, type Spent, type Tokens } from '../schema/cut-off.ts';
import type { EvalReport, ToolTally } from '../schema/eval-report.ts';
import type { ToolCall } from '../schema/message.ts';
import { addUsd } from '../schema/usd.ts';
import type { ObservedCall } from './score.ts';

/** Statistics of a replay, counted from the facts of its trace (evals-and-traces.md 5.6). */

export type Tally = {
  inference_count: number;
  inference_error_count: number;
  tool_count: number;
  tool_failures: number;
  input: number;
  output: number;
  total: number;
  /** Estimated tokens of interrupted attempts; excluded from the other counts. */
  lost: Tokens;
  /** Cost of all inferences with a price, of all models, including interrupted attempts. */
  usd: number | undefined;
  /** Usage of judges; excluded from the other counts. */
  judged: Spent;
  readonly calls: ObservedCall[];
  readonly tools: Map<string, ToolTally>;
  /** Class of the last failed inference. */
  errorClass: string | undefined;
};

export const newTally = (): Tally => ({
  inference_count: 0,
  inference_error_count: 0,
  tool_count: 0,
  tool_failures: 0,
  input: 0,
  output: 0,
  total: 0,
  lost: { input: 0, output: 0 },
  usd: undefined,
  judged: { input: 0, output: 0 },
  calls: [],
  tools: new Map(),
  errorClass: undefined,
});

export const count = (tally: Tally, agent_id: string, fact: TraceFact): void => {
  if (fact.type === 'inference') countInference(tally, fact);
  else if (fact.type === 'tool') countTool(tally, agent_id, fact);
  // The call was requested and denied.
  else if (fact.type === 'suspension' && fact.decided === 'cancel')
    countCall(tally, agent_id, { call: fact.call, result: undefined, seconds: 0, hasFailed: true });
};

type Fact<Type extends TraceFact['type']> = Extract<TraceFact, { type: Type }>;

const known = (tokens: number | undefined): number => Math.max(0, tokens ?? 0);

const countInference = (tally: Tally, { end, error, cut_off, cost_usd }: Fact<'inference'>): void => {
  tally.usd = addUsd(tally.usd, cost_usd);
  tally.lost.input += cut_off?.input_tokens ?? 0;
  tally.lost.output += cut_off?.output_tokens ?? 0;
  if (!end) {
    tally.inference_error_count += 1;
    tally.errorClass = error?.type;
    return;
  }
  tally.inference_count += 1;
  const input = known(end.usage?.prompt_tokens);
  const output = known(end.usage?.completion_tokens);
  tally.input += input;
  tally.output += output;
  tally.total += end.usage?.total_tokens === undefined ? input + output : known(end.usage.total_tokens);
};

export const countJudged = ({ judged }: Tally, { usage, cost_usd }: InferenceEnd): void => {
  judged.usd = addUsd(judged.usd, cost_usd);
  judged.input += known(usage?.prompt_tokens);
  judged.output += known(usage?.completion_tokens);
};

/** The token count to compare with limits. */
export const spentTokens = ({ total, lost }: Tally): number => total + lost.input + lost.output;

const countTool = (tally: Tally, agent_id: string, { call, result, seconds }: Fact<'tool'>): void => {
  // A pending call is reported again after its decision.
  if (result?.status === 'pending') return;
  countCall(tally, agent_id, {
    call,
    result: result && (result.data ?? result.message),
    seconds,
    hasFailed: result?.status !== 'success',
  });
};

type Ended = { call: ToolCall; result: ObservedCall['result']; seconds: number; hasFailed: boolean };

const countCall = (tally: Tally, agent_id: string, { call, result, seconds, hasFailed }: Ended): void => {
  tally.tool_count += 1;
  if (hasFailed) tally.tool_failures += 1;
  tally.calls.push({ name: call.name, arguments: call.arguments, result });
  const key = JSON.stringify([agent_id, call.name]);
  const tool = tally.tools.get(key) ?? newTool(agent_id, call.name);
  tool.call_count += 1;
  if (hasFailed) tool.failure_count += 1;
  tool.total_duration_ms += Math.round(seconds * 1000);
  tally.tools.set(key, tool);
};

const newTool = (agent_id: string, tool: string): ToolTally => ({
  agent_id,
  tool,
  call_count: 0,
  failure_count: 0,
  total_duration_ms: 0,
});

type Counted = Pick<
  EvalReport,
  | 'inference_count'
  | 'tool_count'
  | 'tool_failures'
  | 'total_input_tokens'
  | 'total_output_tokens'
  | 'total_tokens'
  | 'cut_off'
  | 'judge_input_tokens'
  | 'judge_output_tokens'
>;

export const counted = (tally: Tally): Counted => {
  const cut_off = cutOffOf(tally.lost);
  const { judged } = tally;
  return {
    inference_count: tally.inference_count,
    tool_count: tally.tool_count,
    tool_failures: tally.tool_failures,
    total_input_tokens: tally.input,
    total_output_tokens: tally.output,
    total_tokens: tally.total,
    ...(cut_off && { cut_off }),
    ...(judged.input > 0 && { judge_input_tokens: judged.input }),
    ...(judged.output > 0 && { judge_output_tokens: judged.output }),
  };
};

const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

export const toolsOf = ({ tools }: Tally): ToolTally[] =>
  [...tools.values()].sort(
    (one, other) => byBytes(one.agent_id, other.agent_id) || byBytes(one.tool, other.tool),
  );
