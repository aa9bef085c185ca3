import type { PartBlock } from '../schema/answer-part.ts';
import type { Json } from '../schema/json.ts';
import type { Resume, TicketBelow } from '../schema/run.ts';
import type { RunEvent } from '../schema/run-event.ts';
import type { TraceContext } from '../schema/trace-context.ts';

/** Runs of other agents, as tools ask for them; the runtime executes them (runtime.md 5.4). */

export type SubAgents = {
  /** Starts the agent on a thread of its own and follows it. */
  start(request: SubAgentCall & { agent: string; prompt: string }): Promise<SubAgentOutcome>;
  /**
   * Hands a decision, or input, to a child that waits, and follows it. A decision goes to the tickets that it names
   * (`below`) as far as they are still open. A child that is done gives its outcome.
   */
  proceed(request: SubAgentCall & { child_run_id: string; decision: Resume }): Promise<SubAgentOutcome>;
  /** Cancels a child that waits and will not be asked any more. */
  end(scope: string, child_run_id: string): void;
};

/** The call that drives the child; when the signal fires, the child is cancelled. */
export type SubAgentCall = {
  scope: string;
  run_id: string;
  thread_id: string;
  call_id: string;
  signal: AbortSignal;
  /** Whose trace the child belongs to. */
  trace?: TraceContext | undefined;
  /** What the child does, as its own readers see it; must not throw. */
  onEvent(event: RunEvent): void;
};

/** What a child came to, once it is done or waits for somebody. */
export type SubAgentOutcome = {
  /** Undefined when it could not be started. */
  child_run_id: string | undefined;
  response: string;
  /** Files, addresses and data in its last answer. */
  files?: readonly PartBlock[];
  steps: number;
  /** What it is made of, other than the text. */
  output?: { structured: Json };
} & SubAgentEnd;

export type SubAgentEnd =
  | { status: 'completed' }
  | { status: 'cancelled' }
  | { status: 'failed'; reason: string }
  | {
      status: 'waiting';
      needs: 'input_required' | 'auth_required' | 'suspended';
      message?: string;
      /** What it waits with, and what those below it wait with. */
      tickets: readonly TicketBelow[];
    };
