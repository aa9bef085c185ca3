import type { TaskState } from './a2a-task.ts';

/** The input, context and events of a run, and the results of its services. */

export type RunEnding =
  | { type: 'natural_end' }
  | { type: 'behavior_requested' }
  | { type: 'cancelled' }
  | { type: 'stopped'; value: { code: string; detail?: string } }
  | { type: 'blocked'; value: string }
  | { type: 'error'; value: string };

/** The final state of a run. */
export type RunEnd = 'completed' | 'cancelled' | 'blocked' | 'failed';

/** Stop codes with which a run has not succeeded. */
const FAILURES: readonly unknown[] = ['budget'];

/** Returns the final state of a run with this ending. */
export const endOf = ({ type, value }: { type: string; value?: unknown }): RunEnd => {
  if (type === 'error' || (type === 'stopped' && isFailure(value))) return 'failed';
  return type === 'cancelled' || type === 'blocked' ? type : 'completed';
};

const isFailure = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'code' in value && FAILURES.includes(value.code);

/** The kinds of waits of a run; each is a separate state below `waiting`. */
export type WaitsFor = 'forDecision' | 'forInput' | 'forAuthentication' | 'forBudget' | 'forTasks';

/** The action that is required from a person or the client before the run continues. */
type InteractionWait = { waits: Exclude<WaitsFor, 'forTasks'> };

/** Result of an inference. */
export type Inferred =
  | { kind: 'answer' }
  | { kind: 'calls' }
  | { kind: 'truncated' }
  | { kind: 'pending_work' }
  | ({ kind: 'asks' } & InteractionWait)
  | { kind: 'stopped'; ending: RunEnding };

type Suspended = { kind: 'suspended' } & InteractionWait;
export type Blocked = { kind: 'blocked'; reason: string };

/**
 * Result of the tool calls of a step. `answered`: the model gave its result together with them, and all of them
 * succeeded. `pending_work`: the same, while background tasks are still running.
 */
export type Acted =
  | { kind: 'executed' }
  | { kind: 'answered' }
  | { kind: 'pending_work' }
  | Suspended
  | Blocked;

/** Result of validating a structured result. `repair`: the model receives the validation error and answers again. */
export type Validated = { kind: 'fits' } | { kind: 'repair' } | { kind: 'exhausted'; ending: RunEnding };

/**
 * Result of applying the decisions and the input that ended a wait. `stopped`: the decision refuses what the run needs
 * to continue.
 */
export type Decided = { kind: 'resolved' } | Suspended | Blocked | { kind: 'stopped'; ending: RunEnding };

/** Result of any service of `running`, for guards that apply to several of them. */
export type Outcome = Inferred | Acted | Decided | Validated;

/**
 * `over`: the model has answered, and there is no input for another step. `waits`: the run does not end yet, because
 * background tasks are still running. `unchecked`: the answer must be a structured result and was not validated.
 */
export type Checkpointed = { over: false } | { over: true; waits?: boolean; unchecked?: boolean };

/** The status of a run on the wire (runtime.md 2.5). */
export type RunStatusTag = 'created' | 'running' | 'waiting' | 'done';

/** The reason of a wait on the wire (runtime.md 2.6). */
export type WaitReasonTag = 'tool_permission' | 'user_input' | 'background_tasks' | 'manual_pause';

/** `answered`: the run waits, and its dispatch is queued. */
export type RunTag = RunStatusTag | WaitReasonTag | TaskState | 'answered';

/** Where an execution starts: with an inference, in the middle of a step after a crash, or with decisions. */
export type RunEntry = 'inference' | 'unfinished_calls' | 'decisions';

export type RunInput = {
  host: object;
  entry: RunEntry;
  attempt: number;
  maxAttempts: number;
  /** The limit, in milliseconds, for the total delay of retries that do not count as attempts. */
  maxHeldBackMs: number;
};

export type RunContext = RunInput & {
  ending: RunEnding | undefined;
  /** Whether input that was delivered to this run is pending until the next step boundary. */
  steered: boolean;
  /** Whether a decision that was delivered to this run is pending until no call is executing. */
  decided: boolean;
  /** Whether the last failure counts as an attempt. */
  counted: boolean;
  /** The delay that the last failure asks for, in milliseconds; 0 if none. */
  pauseMs: number;
  /** The sum of the delays that did not count as attempts. */
  heldBackMs: number;
};

/** Whether the awaited decision or input has arrived while the wait is being written. */
export const isAwaited = ({ steered, decided }: Pick<RunContext, 'steered' | 'decided'>): boolean =>
  steered || decided;

/** The initial context of every execution, in addition to its input. */
export const BEGINNING = {
  ending: undefined,
  steered: false,
  decided: false,
  counted: true,
  pauseMs: 0,
  heldBackMs: 0,
} as const satisfies Omit<RunContext, keyof RunInput>;

export type RunMachineEvent =
  | { type: 'CLAIM' }
  | { type: 'CANCEL' }
  | { type: 'SUPERSEDE' }
  | { type: 'DEAD_LETTER'; reason: string }
  | { type: 'STEER' }
  | { type: 'RESUME' }
  | { type: 'ANSWER' }
  | { type: 'RELEASE' };

/** Input of `park`: the kind of wait to write. */
export type Parking = { host: object; waits: WaitsFor };
