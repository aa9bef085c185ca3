import type { InferenceEnd, InferenceRequest, SentSettings } from '../models/model.ts';
import type { CutOff } from '../schema/cut-off.ts';
import type { ContentBlock, ToolCall } from '../schema/message.ts';
import type { ToolResult } from '../schema/run-event.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { ResolvedAgent } from './agent.ts';
import type { TaskRecord } from './background.ts';

/** The facts that the trace of a run receives (evals-and-traces.md 9.1). */

export type RunTrace = {
  /** Must not throw. Facts of a run arrive in the order in which they became true. */
  note(agent: ResolvedAgent, fact: TraceFact): void;
  /** Returns the trace context for outgoing calls from this place; undefined if no spans are created. */
  contextAt?(place: SpanPlace): TraceContext | undefined;
};

/** An inference by its step, or a tool call by its id and the step that requested it. */
export type SpanPlace = { inference: number } | { tool: string; step: number | undefined };

type Timed = { seconds: number };

export type TraceFact =
  | (Timed & {
      type: 'inference';
      step_index: number | undefined;
      model: string;
      provider: string;
      request: InferenceRequest | undefined;
      /** Undefined when no request was sent. */
      sent: SentSettings | undefined;
      end: InferenceEnd | undefined;
      error: { type: string; isTransient: boolean } | undefined;
      content: readonly ContentBlock[];
      calls: readonly ToolCall[];
      /** Tokens of its aborted attempts. */
      cut_off: CutOff | undefined;
      /** Cost of the answer and of the aborted attempts, where their prices are known. */
      cost_usd: number | undefined;
    })
  | (Timed & {
      type: 'tool';
      step_index: number | undefined;
      call: ToolCall;
      /** The tool as offered by its agent; undefined for an unknown tool. */
      descriptor: ToolDescriptor | undefined;
      /** Milliseconds. */
      ended_at: number;
      /** Undefined when the result was lost with its process. */
      result: ToolResult | undefined;
      delegatesTo: string | undefined;
    })
  | {
      type: 'suspension';
      call: ToolCall;
      decided: 'resume' | 'cancel' | undefined;
      waited_ms: number | undefined;
    }
  | { type: 'handoff'; to: string }
  | { type: 'background_task'; task: TaskRecord };
