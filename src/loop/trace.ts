import { addUsd } from '../models/cost.ts';
import { ModelError } from '../models/errors.ts';
import type { InferenceEnd, InferenceRequest, SentSettings } from '../models/model.ts';
import { cutOffOf, type Spent } from '../schema/cut-off.ts';
import type { ContentBlock, ToolCall } from '../schema/message.ts';
import type { ToolResult } from '../schema/run-event.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { TaskRecord } from './background.ts';
import { INTERRUPTED } from './history.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * What the loop tells the trace of a run (evals-and-traces.md 9). A fact is made only for a run that has a trace, and
 * refers to what the run holds anyway: nothing is copied, and nothing waits for whoever is told.
 */

export type TracedInference = {
  seconds: number;
  by: { model: string; provider: string };
  /** Undefined: it belongs to no step. */
  step_index?: number | undefined;
  request?: InferenceRequest | undefined;
  sent?: SentSettings | undefined;
  end?: InferenceEnd | undefined;
  error?: unknown;
  content?: readonly ContentBlock[];
  calls?: readonly ToolCall[];
  lost?: Spent;
};

export const traceInference = (turn: Turn, told: TracedInference): void => {
  if (!turn.trace) return;
  const { end, error, by } = told;
  turn.trace.note(turn.agent, {
    type: 'inference',
    step_index: told.step_index,
    seconds: told.seconds,
    model: by.model,
    provider: by.provider,
    request: told.request,
    sent: told.sent,
    end,
    error: end ? undefined : failureOf(error),
    content: told.content ?? [],
    calls: told.calls ?? [],
    cut_off: told.lost && cutOffOf(told.lost),
    cost_usd: addUsd(end?.cost_usd, told.lost?.usd),
  });
};

const failureOf = (error: unknown): { type: string; isTransient: boolean } =>
  error instanceof ModelError
    ? { type: error.class, isTransient: error.transient }
    : { type: 'internal', isTransient: false };

/** A call that has its result, or whose tool has put it off. One that was not executed is told nobody. */
export const traceTool = (turn: Turn, entry: StepCall, result: ToolResult): void => {
  if (turn.trace && result.message !== INTERRUPTED) noteTool(turn, entry, result);
};

/** The call had begun when the process died, and will not be executed again. */
export const traceLostTool = (turn: Turn, entry: StepCall): void => {
  if (turn.trace) noteTool(turn, entry, undefined);
};

const noteTool = (turn: Turn, entry: StepCall, result: ToolResult | undefined): void => {
  const tool = turn.agent.tools.get(entry.call.name);
  const { ended_at, seconds } = entry.ran ?? { ended_at: turn.clock.now(), seconds: 0 };
  turn.trace?.note(turn.agent, {
    type: 'tool',
    step_index: stepOf(turn, entry),
    call: entry.call,
    descriptor: tool?.descriptor,
    seconds,
    ended_at,
    result,
    delegatesTo: tool?.delegatesTo,
  });
};

/** What an inference of this step tells the provider. */
export const contextOfInference = ({ trace, context }: Turn, step: number): TraceContext | undefined =>
  trace?.contextAt?.({ inference: step }) ?? context;

/** What a call tells those that its tool calls. */
export const contextOfTool = (turn: Turn, entry: StepCall): TraceContext | undefined =>
  turn.trace?.contextAt?.({ tool: entry.call.id, step: stepOf(turn, entry) }) ?? turn.context;

/** Of the answer that asked for the call; after a wait its step is over. */
export const stepOf = (turn: Turn, { call }: StepCall): number | undefined => {
  if (turn.step) return turn.step.index;
  const asked = [turn.produced, turn.committed()]
    .map((messages) => messages.findLast(({ tool_calls }) => tool_calls?.some(({ id }) => id === call.id)))
    .find((message) => message !== undefined);
  return asked?.metadata?.step_index;
};

export const traceSuspended = ({ trace, agent }: Turn, { call }: StepCall): void =>
  trace?.note(agent, { type: 'suspension', call, decided: undefined, waited_ms: undefined });

export const traceDecided = (
  turn: Turn,
  { call, updated_at }: StepCall,
  decided: 'resume' | 'cancel',
): void =>
  turn.trace?.note(turn.agent, {
    type: 'suspension',
    call,
    decided,
    waited_ms: Math.max(0, turn.clock.now() - updated_at),
  });

export const traceTask = ({ trace, agent }: Turn, task: TaskRecord): void =>
  trace?.note(agent, { type: 'background_task', task });
