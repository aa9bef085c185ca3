import type { InferenceEnd, InferenceRequest, SentSettings } from '../models/model.ts';
import type { CutOff } from '../schema/cut-off.ts';
import type { ContentBlock, ToolCall } from '../schema/message.ts';
import type { ToolResult } from '../schema/run-event.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { ResolvedAgent } from './agent.ts';
import type { TaskRecord } from './background.ts';

/** What the trace of a run is told (evals-and-traces.md 9.1). */

export type RunTrace = {
  /** Must not throw. The facts of a run come in the order in which they became true. */
  note(agent: ResolvedAgent, fact: TraceFact): void;
  /** What a call of this place tells the one that it calls; undefined where nobody makes spans. */
  contextAt?(place: SpanPlace): TraceContext | undefined;
};

/** An inference by its step, or a call of a tool by its id and the step that asked for it. */
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
      /** Of its attempts that broke off. */
      cut_off: CutOff | undefined;
      /** Of the answer and of those attempts, where their prices are known. */
      cost_usd: number | undefined;
    })
  | (Timed & {
      type: 'tool';
      step_index: number | undefined;
      call: ToolCall;
      /** As its agent offers it; undefined for one that it does not have. */
      descriptor: ToolDescriptor | undefined;
      /** milliseconds */
      ended_at: number;
      /** Undefined when nobody will ever know. */
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
