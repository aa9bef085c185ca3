import type { StateValue } from 'xstate';
import { runMachine } from '../../machines/run.ts';
import {
  BEGINNING,
  endOf,
  type RunEnd,
  type RunEntry,
  type RunTag,
  type WaitReasonTag,
  type WaitsFor,
} from '../../machines/run-types.ts';
import { AUTH_REQUIRED } from './authorization.ts';
import { BUDGET_EXCEEDED } from './budget.ts';
import { type Run, RunStatus, type WaitingTicket } from './run.ts';

/**
 * The state of the run machine that a record was written in. It is stored with the record, so that a run without an
 * actor continues from it; everything else about such a run, its status included, is a tag of that state.
 */

const VALUES = {
  created: 'created',
  'running.deciding': { running: 'deciding' },
  'running.inferring': { running: 'inferring' },
  'running.acting': { running: 'acting' },
  'running.checkpointing': { running: 'checkpointing' },
  'waiting.forDecision': { waiting: { forDecision: 'parked' } },
  'waiting.forInput': { waiting: { forInput: 'parked' } },
  'waiting.forAuthentication': { waiting: { forAuthentication: 'parked' } },
  'waiting.forBudget': { waiting: { forBudget: 'parked' } },
  'waiting.forTasks': { waiting: { forTasks: 'parked' } },
  'waiting.answered': { waiting: 'answered' },
  'waiting.notified': { waiting: 'notified' },
  completed: 'completed',
  cancelled: 'cancelled',
  blocked: 'blocked',
  failed: 'failed',
} as const satisfies Record<string, StateValue> & Record<`waiting.${WaitsFor}` | RunEnd, StateValue>;

export { endOf };

/** A state in which a record is written, and from which a process resumes the run. */
export type RunState = keyof typeof VALUES;

// The keys of VALUES are exactly the states.
export const RUN_STATES = Object.keys(VALUES) as RunState[];

export const isRunState = (value: unknown): value is RunState =>
  typeof value === 'string' && Object.hasOwn(VALUES, value);

/** A run as stored. */
export type RunRecord = Run & { machine_state: RunState };

type InState = Pick<RunRecord, 'machine_state'>;

/** The context of a machine that was never started. */
const CONTEXT = {
  host: {},
  entry: 'inference',
  attempt: 0,
  maxAttempts: 1,
  maxHeldBackMs: 0,
  ...BEGINNING,
} as const;

/** Returns value and context for computing the transition of an event. */
export const stateAt = (state: RunState) => ({ value: VALUES[state], context: CONTEXT });

const ofEach = <Value>(read: (state: RunState) => Value): Readonly<Record<RunState, Value>> =>
  // One entry for each state.
  Object.fromEntries(RUN_STATES.map((state) => [state, read(state)])) as Record<RunState, Value>;

const TAGS = ofEach((state): ReadonlySet<string> => runMachine.resolveState(stateAt(state)).tags);

/** Whether the state of the record has the tag. */
export const hasTag = ({ machine_state }: InState, tag: RunTag): boolean => TAGS[machine_state].has(tag);

/** Returns, for each state, the one of these tags that it has. */
export const taggedWith = <Tag extends RunTag>(
  tags: readonly Tag[],
): Readonly<Record<RunState, Tag | undefined>> => ofEach((state) => tags.find((tag) => TAGS[state].has(tag)));

const REASONS = [
  'tool_permission',
  'user_input',
  'background_tasks',
  'manual_pause',
] as const satisfies WaitReasonTag[];

const STATUS = ofEach((state): RunStatus => {
  const status = RunStatus.options.find((tag) => TAGS[state].has(tag));
  if (!status) throw new Error(`state '${state}' of the run machine has no status`);
  return status;
});

/** Returns the fields of a record in this state. The status on the wire is a tag of the state. */
export const inState = (machine_state: RunState): Pick<RunRecord, 'status' | 'machine_state'> => ({
  status: STATUS[machine_state],
  machine_state,
});

/**
 * Returns the state of a machine in which its record is written; undefined for a state from which no process resumes
 * the run. A wait is recorded by the commit that makes it durable.
 */
export const recordedState = ({ value }: { value: StateValue }): RunState | undefined => {
  const path = typeof value === 'string' ? value : pathOf(value);
  return isRunState(path) ? path : undefined;
};

/** Returns the names of the two outer states. */
const pathOf = (value: Exclude<StateValue, string>): string | undefined => {
  for (const name in value) {
    const below = value[name];
    return `${name}.${typeof below === 'object' ? Object.keys(below)[0] : below}`;
  }
  return undefined;
};

/** Whether the record has a state, and the state agrees with its other fields. */
export const hasOwnState = (run: Run & { machine_state?: unknown }): run is RunRecord => {
  const { machine_state: state, status, termination_reason, waiting } = run;
  if (!isRunState(state) || STATUS[state] !== status) return false;
  if (status === 'done') return termination_reason === undefined || endOf(termination_reason) === state;
  const reason = REASONS.find((each) => each === waiting?.reason);
  return (
    status !== 'waiting' || TAGS[state].has('answered') || reason === undefined || TAGS[state].has(reason)
  );
};

const ENTRIES: Partial<Record<RunState, RunEntry>> = {
  'running.deciding': 'decisions',
  'running.acting': 'unfinished_calls',
};

/** Returns where an execution that ended in this state without an end continues. */
export const entryOf = ({ machine_state }: InState): RunEntry => ENTRIES[machine_state] ?? 'inference';

/** Returns the run on the wire. The state is internal. */
export const wireRun = ({ machine_state: _internal, ...run }: RunRecord): Run => run;

const REASON = taggedWith(REASONS);

/** Returns the reason of a wait on the wire (runtime.md 2.6). */
export const waitReason = (waits: WaitsFor): WaitReasonTag => REASON[`waiting.${waits}`] ?? 'user_input';

/** Whether a ticket asks for a permission: the decision allows the call, here or where a delegate waits. */
const asksPermission = ({ resume_mode, reason }: Asking): boolean =>
  (resume_mode === 'replay_tool_call' && reason !== AUTH_REQUIRED) || reason === 'agent_delegate:suspended';

const asksAuthentication = ({ reason }: Asking): boolean =>
  reason === AUTH_REQUIRED || reason === 'agent_delegate:auth_required';

/** Whether a person allows the call of a ticket, or connects the account that it needs: here, or where a delegate waits. */
export const asksForConsent = (ticket: Asking): boolean =>
  asksPermission(ticket) || asksAuthentication(ticket);

/** Whether a ticket waits for a budget: that of the run itself, or of a delegate. */
export const asksForBudget = ({ reason }: Asking): boolean =>
  reason === BUDGET_EXCEEDED || reason === 'agent_delegate:budget_exceeded';

type Asking = Pick<WaitingTicket, 'resume_mode' | 'reason'>;

/** Returns the kind of wait for open tickets (runtime.md 2.6). */
export const waitKindOf = (tickets: readonly Asking[]): Exclude<WaitsFor, 'forTasks'> => {
  if (tickets.some(asksPermission)) return 'forDecision';
  if (tickets.some(asksAuthentication)) return 'forAuthentication';
  return tickets.length > 0 && tickets.every(asksForBudget) ? 'forBudget' : 'forInput';
};
