import { isObject } from '../data/guard.ts';
import type { LogEvent } from '../event-log/event.ts';
import type { Step } from '../live-charts/actors.ts';
import type { Ways } from './machine.ts';

/**
 * The state, the path and the conversation of a run at each of its events. The events determine the states; the machine
 * determines the transitions between them.
 */

export type Status = 'created' | 'running' | 'waiting' | 'done';

export type Moment = {
  /** Path of the state in the run machine. */
  state: string;
  status: Status;
  /** Number of transitions taken so far. */
  steps: number;
  /** Sequence number of the last message of the run so far; undefined if it has none. */
  seq: number | undefined;
};

export type Course = { moments: readonly Moment[]; steps: readonly Step[] };

const END: Readonly<Record<string, string>> = {
  RunFinished: 'completed',
  RunCancelled: 'cancelled',
  RunErrored: 'failed',
};

const endOf = ({ event_kind, payload }: LogEvent): string | undefined => {
  if (event_kind !== 'RunTerminated') return END[event_kind];
  const type = isObject(payload.termination) ? payload.termination.type : undefined;
  return type === 'blocked' ? 'blocked' : 'completed';
};

/** Whether the event is the last one of a run. */
export const isEnd = (event: LogEvent): boolean => endOf(event) !== undefined;

/** The waiting state that follows from the pending requests. */
const waitOf = (asked: readonly LogEvent[], { payload }: LogEvent): string => {
  const { result } = payload;
  if (isObject(result) && result.status === 'waiting' && asked.length === 0) return 'waiting.forTasks.parked';
  const asksPermission = asked.some(({ event_kind }) => event_kind === 'ToolPermissionRequested');
  return asksPermission ? 'waiting.forDecision.parked' : 'waiting.forInput.parked';
};

const statusOf = (state: string): Status => {
  const [outer = ''] = state.split('.');
  if (outer === 'created' || outer === 'waiting') return outer;
  return outer === 'running' || outer === 'concluding' ? 'running' : 'done';
};

/** Calls without a result, and requests since the run was last resumed. */
type Since = { open: Set<string>; asked: LogEvent[] };

const idOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const stateAfter = (state: string, event: LogEvent, since: Since): string => {
  const { event_kind: kind, payload } = event;
  switch (kind) {
    case 'RunQueued':
    case 'RunSubmitted':
      return state.startsWith('waiting') ? 'waiting.answered' : state;
    case 'RunRescheduled':
      return state === 'created' ? state : 'running.retrying.pausing';
    case 'RunStarted':
      return 'running.inferring';
    case 'RunResumed':
      since.asked = [];
      return 'running.deciding';
    case 'ToolCallReady':
      since.open.add(idOf(payload.id));
      return 'running.inferring';
    case 'InferenceComplete':
      return since.open.size > 0 ? 'running.acting' : 'running.inferring';
    case 'ToolCallDone':
    case 'ToolCallRejected':
    case 'ToolCallTimedOut':
      since.open.delete(idOf(payload.id));
      return 'running.acting';
    case 'ToolCallResumed':
      since.open.delete(idOf(payload.target_id));
      return 'running.deciding';
    case 'ToolCallSuspended':
    case 'ToolPermissionRequested':
      since.asked.push(event);
      return 'running.acting';
    case 'ThreadMessagesCheckpointed':
      return state === 'running.acting' && since.open.size === 0 ? 'running.checkpointing' : state;
    case 'RunSuspended':
      return waitOf(since.asked, event);
    default:
      return endOf(event) ?? state;
  }
};

/** @param ways undefined while the machine is unknown; there are no steps then */
export const courseOf = (events: readonly LogEvent[], ways: Ways | undefined): Course => {
  const moments: Moment[] = [];
  const steps: Step[] = [];
  const since: Since = { open: new Set(), asked: [] };
  let state = 'created';
  let seq: number | undefined;
  for (const event of events) {
    const next = stateAfter(state, event, since);
    for (const { id, event: name, from, to } of ways?.between(state, next) ?? []) {
      steps.push({
        serial: steps.length + 1,
        event: name,
        from: steps.at(-1)?.to ?? from,
        to: ways?.leafOf(to ?? from) ?? from,
        transition: id,
        time: event.created_at,
      });
    }
    state = next;
    if (event.event_kind === 'MessageCommitted' && typeof event.payload.message_seq === 'number') {
      seq = event.payload.message_seq;
    }
    moments.push({ state, status: statusOf(state), steps: steps.length, seq });
  }
  return { moments, steps };
};
