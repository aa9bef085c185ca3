import type { Resume } from '../schema/activation.ts';
import type { PartBlock } from '../schema/answer-part.ts';
import type { Json } from '../schema/json.ts';
import type { TicketBelow } from '../schema/run.ts';
import type { RunEvent } from '../schema/run-event.ts';
import type { TraceContext } from '../schema/trace-context.ts';

/** Runs of other agents that tools request; the runtime executes them (runtime.md 5.4). */

export type SubAgents = {
  /** Starts the agent on a separate thread and follows the run. */
  start(request: SubAgentCall & { agent: string; prompt: string }): Promise<SubAgentOutcome>;
  /**
   * Passes a decision or input to a waiting child, and follows it. A decision applies to the tickets that it names
   * (`below`), as far as they are still open. For a child that is done, the outcome is returned.
   */
  proceed(request: SubAgentCall & { child_run_id: string; decision: Resume }): Promise<SubAgentOutcome>;
  /** Cancels a waiting child that will not be continued. */
  end(scope: string, child_run_id: string): void;
};

/** The call that drives the child; the child is cancelled when the signal fires. */
export type SubAgentCall = {
  scope: string;
  run_id: string;
  thread_id: string;
  call_id: string;
  signal: AbortSignal;
  /** Trace context of the child. */
  trace?: TraceContext | undefined;
  /** Receives the events of the child; must not throw. */
  onEvent(event: RunEvent): void;
};

/** The outcome of a child that is done or waiting. */
export type SubAgentOutcome = {
  /** Undefined if the child could not be started. */
  child_run_id: string | undefined;
  response: string;
  /** Files, URLs and data in its last completion. */
  files?: readonly PartBlock[];
  steps: number;
  output?: { structured: Json };
} & SubAgentEnd;

export type SubAgentEnd =
  | { status: 'completed' }
  | { status: 'cancelled' }
  | { status: 'failed'; reason: string }
  | {
      status: 'waiting';
      needs: 'input_required' | 'auth_required' | 'budget_exceeded' | 'suspended';
      message?: string;
      /** Its own tickets and those of the runs below it. */
      tickets: readonly TicketBelow[];
    };
