import { ModelError } from '../models/errors.ts';
import type { InferenceEnd, InferenceRequest, SentSettings } from '../models/model.ts';
import { cutOffOf, type Spent } from '../schema/cut-off.ts';
import type { ContentBlock, ToolCall } from '../schema/message.ts';
import type { ToolResult } from '../schema/run-event.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import { addUsd } from '../schema/usd.ts';
import type { TaskRecord } from './background.ts';
import { INTERRUPTED } from './history.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * Reports facts to the trace of a run (evals-and-traces.md 9). A fact is created only for a run that has a trace, and
 * references existing objects of the run: nothing is copied, and the run never waits for its trace.
 */

export type TracedInference = {
  seconds: number;
  by: { model: string; provider: string };
  /** Undefined for an inference outside of steps. */
  step_index?: number | undefined;
  request?: InferenceRequest | undefined;
  sent?: SentSettings | undefined;
  end?: InferenceEnd | undefined;
  error?: unknown;
  content?: readonly ContentBlock[];
  calls?: readonly ToolCall[];
  lost?: Spent;
};

export const traceInference = (turn: Turn, traced: TracedInference): void => {
  if (!turn.trace) return;
  const { end, error, by } = traced;
  turn.trace.note(turn.agent, {
    type: 'inference',
    step_index: traced.step_index,
    seconds: traced.seconds,
    model: by.model,
    provider: by.provider,
    request: traced.request,
    sent: traced.sent,
    end,
    error: end ? undefined : failureOf(error),
    content: traced.content ?? [],
    calls: traced.calls ?? [],
    cut_off: traced.lost && cutOffOf(traced.lost),
    cost_usd: addUsd(end?.cost_usd, traced.lost?.usd),
  });
};

const failureOf = (error: unknown): { type: string; isTransient: boolean } =>
  error instanceof ModelError
    ? { type: error.class, isTransient: error.transient }
    : { type: 'internal', isTransient: false };

/** Traces a call that has its result, or that its tool has suspended. A call that was not executed is not traced. */
export const traceTool = (turn: Turn, entry: StepCall, result: ToolResult): void => {
  if (turn.trace && result.message !== INTERRUPTED) noteTool(turn, entry, result);
};

/** Traces a call that had started when the process died, and that will not be executed again. */
export const traceLostTool = (turn: Turn, entry: StepCall): void => {
  if (turn.trace) noteTool(turn, entry, undefined);
};

const noteTool = (turn: Turn, entry: StepCall, result: ToolResult | undefined): void => {
  const tool = turn.agent.tools.get(entry.call.name);
  const { ended_at, seconds } = entry.ran ?? { ended_at: turn.clock.now(), seconds: 0 };
  turn.trace?.note(turn.agent, {
    type: 'tool',
    step_index: findStep(turn, entry),
    call: entry.call,
    descriptor: tool?.descriptor,
    seconds,
    ended_at,
    result,
    delegatesTo: tool?.delegatesTo,
  });
};

/** Returns the trace context that an inference of this step sends to the provider. */
export const contextOfInference = ({ trace, context }: Turn, step: number): TraceContext | undefined =>
  trace?.contextAt?.({ inference: step }) ?? context;

/** Returns the trace context for the outgoing calls of a tool. */
export const toolTraceContext = (turn: Turn, entry: StepCall): TraceContext | undefined =>
  turn.trace?.contextAt?.({ tool: entry.call.id, step: findStep(turn, entry) }) ?? turn.context;

/** Returns the step of the answer that requested the call; after a wait that step has ended. */
export const findStep = (turn: Turn, { call }: StepCall): number | undefined => {
  if (turn.step) return turn.step.index;
  const request = [turn.produced, turn.committed()]
    .map((messages) => messages.findLast(({ tool_calls }) => tool_calls?.some(({ id }) => id === call.id)))
    .find((message) => message !== undefined);
  return request?.metadata?.step_index;
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
