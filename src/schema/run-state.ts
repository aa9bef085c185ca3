import { BEGINNING, type RunTag, runMachine, type WaitReasonTag, type WaitsFor } from '../../machines/run.ts';
import type { Run, WaitingTicket } from './run.ts';

/**
 * Where a run is in the run machine while no actor holds it: read off its record, by which it is stored. Whatever
 * else is said of a run at rest is said by the machine, as tags of that state.
 */

const STATES = {
  created: 'created',
  running: { running: 'inferring' },
  forDecision: { waiting: { forDecision: 'parked' } },
  forInput: { waiting: { forInput: 'parked' } },
  forAuthentication: { waiting: { forAuthentication: 'parked' } },
  forTasks: { waiting: { forTasks: 'parked' } },
  answered: { waiting: 'answered' },
  completed: 'completed',
  cancelled: 'cancelled',
  blocked: 'blocked',
  failed: 'failed',
} as const;

/** A state in which a run can be at rest. */
export type RestState = keyof typeof STATES;

/** As a machine has it that was never started. */
const CONTEXT = {
  host: {},
  entry: 'inference',
  attempt: 0,
  maxAttempts: 1,
  maxHeldBackMs: 0,
  ...BEGINNING,
} as const;

/** As the machine has it: to ask where an event leads from there. */
export const atRest = (state: RestState) => ({ value: STATES[state], context: CONTEXT });

/** Of each state the one of these tags that it has. */
export const taggedWith = <Tag extends RunTag>(
  tags: readonly Tag[],
): Readonly<Record<RestState, Tag | undefined>> => {
  const tagOf = (state: RestState): Tag | undefined => {
    const snapshot = runMachine.resolveState(atRest(state));
    return tags.find((tag) => snapshot.hasTag(tag));
  };
  // The keys are those of STATES.
  const entries = (Object.keys(STATES) as RestState[]).map((state) => [state, tagOf(state)] as const);
  return Object.fromEntries(entries) as Record<RestState, Tag | undefined>;
};

const REASON = taggedWith<WaitReasonTag>(['tool_permission', 'user_input', 'background_tasks']);

/** Asks for a permission: to allow the call is the answer, here or where a delegate waits. */
const asksPermission = ({ resume_mode, reason }: Asking): boolean =>
  resume_mode === 'replay_tool_call' || reason === 'agent_delegate:suspended';

const asksAuthentication = ({ reason }: Asking): boolean => reason === 'agent_delegate:auth_required';

type Asking = Pick<WaitingTicket, 'resume_mode' | 'reason'>;

/** What open tickets make a run wait for (runtime.md 2.6). */
export const askedBy = (tickets: readonly Asking[]): Exclude<WaitsFor, 'forTasks'> => {
  if (tickets.some(asksPermission)) return 'forDecision';
  return tickets.some(asksAuthentication) ? 'forAuthentication' : 'forInput';
};

export const restStateOf = (run: Run): RestState => {
  switch (run.status) {
    case 'waiting':
      return restOfWait(run);
    case 'done':
      return restOfEnd(run);
    default:
      return run.status;
  }
};

const restOfWait = ({ waiting, activation }: Run): RestState => {
  const { reason, message, tickets = [] } = waiting ?? {};
  if (reason === 'background_tasks') return 'forTasks';
  // Only an execution has a session: whatever ends this wait is queued.
  if (activation && activation.trace.session_id === undefined) return 'answered';
  if (reason !== 'tool_permission') return 'forInput';
  const isLogin = message === 'auth_required' || askedBy(tickets) === 'forAuthentication';
  return isLogin ? 'forAuthentication' : 'forDecision';
};

const restOfEnd = ({ termination_reason }: Run): RestState => {
  switch (termination_reason?.type) {
    case 'cancelled':
    case 'blocked':
      return termination_reason.type;
    case 'error':
      return 'failed';
    default:
      return 'completed';
  }
};

/** Why a run in this state waits, on the wire (runtime.md 2.6). */
export const reasonOf = (waits: WaitsFor): WaitReasonTag => REASON[waits] ?? 'user_input';

/** The run waits for its background tasks, and nobody has to do anything. */
export const awaitsTasks = (run: Run | undefined): boolean =>
  run !== undefined && restStateOf(run) === 'forTasks';
