import type { Message } from '../../schema/message.ts';
import type { PendingMessage } from '../../schema/pending.ts';
import type { Run } from '../../schema/run.ts';
import { endOf, type RunRecord, type RunState, waitKindOf } from '../../schema/run-state.ts';
import type { Rows } from '../engine/batch.ts';
import { END, type Key } from '../engine/keys.ts';
import { type DispatchRow, OPEN as OPEN_DISPATCH } from '../tables/dispatches.ts';
import type { StoredMessage } from '../tables/messages.ts';
import type { RunRow } from '../tables/runs.ts';
import type { Entry } from './derived.ts';

/**
 * Derives the state of a run whose record does not contain it: of folders up to format 4, and of damaged records. No
 * other module derives a state.
 */

/** Returns the state that was derived from the record of the run alone, as its indexes were. */
export const stateInRecord = (run: Run): RunState => {
  switch (run.status) {
    case 'waiting':
      return stateOfWait(run);
    case 'done':
      return endOf(run.termination_reason ?? { type: 'natural_end' });
    case 'running':
      return 'running.inferring';
    default:
      return run.status;
  }
};

const stateOfWait = (run: Run): RunState => {
  const { reason, message, tickets = [] } = run.waiting ?? {};
  if (reason === 'background_tasks') return 'waiting.forTasks';
  if (isQueued(run)) return 'waiting.answered';
  if (reason === 'manual_pause') return 'waiting.forBudget';
  if (reason !== 'tool_permission') return 'waiting.forInput';
  const isLogin = message === 'auth_required' || waitKindOf(tickets) === 'forAuthentication';
  return isLogin ? 'waiting.forAuthentication' : 'waiting.forDecision';
};

/** Adds the state to rows of runs that do not contain it. */
export function* withOldStates(rows: Iterable<Entry>): Iterable<Entry> {
  for (const { key, value } of rows) {
    // This table has written the row.
    const row = value as RunRow;
    yield { key, value: { ...row, run: { ...row.run, machine_state: stateInRecord(row.run) } } };
  }
}

/** The rows of a folder that a state depends on. Rows that do not decode are skipped. */
export type OtherRows = {
  /** Returns the pending messages of a thread. */
  pending(scope: string, thread_id: string): Iterable<PendingMessage>;
  /** Returns the messages of a run, newest first. */
  messages(scope: string, run: Run): Iterable<Message>;
  /** Whether the dispatch of the run is queued or claimed. */
  hasOpenDispatch(scope: string, run: Run): boolean;
};

/** Returns undefined for a row that does not decode: it stays as it is, and `troupe doctor` reports it. */
export const readDecodable = (rows: Rows | undefined, key: Key): unknown => {
  try {
    return rows?.get(key);
  } catch {
    return undefined;
  }
};

/** @param open undefined for a table that the folder does not have */
export const otherRows = (open: (table: string) => Rows | undefined): OtherRows => ({
  *pending(scope, thread_id) {
    const rows = open('pending');
    for (const key of rows?.getKeys(under([scope, thread_id])) ?? []) {
      // Keys of these tables are text and numbers. Damaged rows can decode to any value, here and below; other rows
      // were written by their table.
      const entry = readDecodable(rows, key as Key) as Partial<PendingMessage> | undefined;
      if (entry?.delivery_mode && entry.message) yield entry as PendingMessage;
    }
  },
  *messages(scope, { thread_id, run_id }) {
    const { start, end } = under([scope, thread_id, run_id]);
    const keys = open('message_by_run')?.getKeys({ start: end, end: start, reverse: true }) ?? [];
    for (const key of keys) {
      const row = readDecodable(open('messages'), [scope, thread_id, Number(key[3])]);
      const { message } = (row ?? {}) as Partial<StoredMessage>;
      if (message) yield message;
    }
  },
  hasOpenDispatch(scope, { dispatch_id }) {
    if (dispatch_id === undefined) return false;
    const row = readDecodable(open('dispatches'), [scope, dispatch_id]);
    const { dispatch } = (row ?? {}) as Partial<DispatchRow>;
    return dispatch !== undefined && OPEN_DISPATCH.includes(dispatch.status);
  },
});

const under = (prefix: string[]) => ({ start: prefix, end: [...prefix, END] });

/** Returns the state from which the run continues. */
export const stateInRows = (scope: string, run: Run, rows: OtherRows): RunState => {
  const state = stateInRecord(run);
  if (run.status === 'running') return stateOfExecution(run, rows.messages(scope, run));
  if (run.status !== 'waiting') return state;
  const isForTasks = state === 'waiting.forTasks';
  // Task events do not end a wait for a decision.
  const ends = ({ message }: PendingMessage): boolean => isForTasks || message.visibility !== 'internal';
  if (!isQueued(run) && !isAnswered(scope, run, { rows, ends })) return state;
  return isForTasks ? 'waiting.notified' : 'waiting.answered';
};

/** Only an execution has a session: the input that ends the wait of another run was queued. */
const isQueued = ({ activation }: Run): boolean =>
  activation !== undefined && activation.trace.session_id === undefined;

/**
 * Whether a decision or input arrived while the wait was being written. Such a run still has its dispatch; input that
 * is pending for any other waiting run joins it when the run resumes.
 */
const isAnswered = (
  scope: string,
  run: Run,
  { rows, ends }: { rows: OtherRows; ends(entry: PendingMessage): boolean },
): boolean => {
  if (!rows.hasOpenDispatch(scope, run)) return false;
  if (isDecided(run)) return true;
  for (const entry of rows.pending(scope, run.thread_id))
    if (entry.delivery_mode.target_run_id === run.run_id && ends(entry)) return true;
  return false;
};

const isDecided = ({ activation, waiting }: Run): boolean => {
  const decided = new Set(activation?.seeded_decisions?.map(([call_id]) => call_id));
  return waiting?.tickets?.some(({ tool_call_id }) => decided.has(tool_call_id)) === true;
};

const stateOfExecution = (run: Run, newestFirst: Iterable<Message>): RunState => {
  if (hasOpenCalls(newestFirst)) return 'running.acting';
  return hasOpenTickets(run) ? 'running.deciding' : 'running.inferring';
};

/** Whether the last message with calls has calls without results. */
const hasOpenCalls = (newestFirst: Iterable<Message>): boolean => {
  const answered = new Set<string | undefined>();
  for (const { role, tool_call_id, tool_calls = [], metadata } of newestFirst) {
    if (role === 'assistant' && metadata?.step_index !== undefined)
      return tool_calls.some(({ id }) => !answered.has(id));
    answered.add(tool_call_id);
  }
  return false;
};

const OPEN: readonly unknown[] = ['suspended', 'resuming', 'running', 'returned'];

/** Whether a call of the last step was suspended and is not settled by a decision yet. */
const hasOpenTickets = ({ state }: Run): boolean => {
  const { calls } = Object(state?.extensions['__runtime.tool_call_states']);
  return Object.values(Object(calls)).some((call) => {
    const { suspension_id, status } = Object(call);
    return suspension_id !== undefined && OPEN.includes(status);
  });
};

/** Returns the record with this state. */
export const withState = (run: Run, machine_state: RunState): RunRecord => ({ ...run, machine_state });
