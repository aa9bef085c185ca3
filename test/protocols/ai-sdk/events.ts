import type { RunEvent, RunEventOf, Ticket } from '../../../src/schema/run-event.ts';
import { clientTicket, permissionTicket } from '../../../src/tools/tickets.ts';

/** Events of a run `R` on the thread `T`, in their valid sequences (runtime.md 6.3). */

export const runStart = (turn_id?: string): RunEvent => ({
  event_type: 'run_start',
  thread_id: 'T',
  run_id: 'R',
  ...(turn_id !== undefined && { turn_id }),
});

export const runFinish = (
  termination: RunEventOf<'run_finish'>['termination'] = { type: 'natural_end' },
): RunEvent => ({ event_type: 'run_finish', thread_id: 'T', run_id: 'R', termination });

export const stepStart = (message_id = 'm1'): RunEvent => ({ event_type: 'step_start', message_id });

export const stepEnd: RunEvent = { event_type: 'step_end' };

export const text = (delta: string): RunEvent => ({ event_type: 'text_delta', delta });

export const reasoning = (delta: string): RunEvent => ({ event_type: 'reasoning_delta', delta });

export const inference: RunEvent = { event_type: 'inference_complete', model: 'm', duration_ms: 5 };

export const snapshot: RunEvent = {
  event_type: 'state_snapshot',
  snapshot: { revision: 1, extensions: { key: 'value' } },
};

export const callStart = (id: string, name = 'look'): RunEvent => ({
  event_type: 'tool_call_start',
  id,
  name,
});

export const callDelta = (id: string, args_delta: string): RunEvent => ({
  event_type: 'tool_call_delta',
  id,
  args_delta,
});

export const callReady = (id: string, name = 'look'): RunEvent => ({
  event_type: 'tool_call_ready',
  id,
  name,
  arguments: { city: 'Oslo' },
});

type Result = RunEventOf<'tool_call_done'>['result'];

export const callDone = (id: string, result: Partial<Result> = {}): RunEvent => {
  const { status = 'success' } = result;
  const outcome = { success: 'succeeded', error: 'failed', pending: 'suspended' } as const;
  return {
    event_type: 'tool_call_done',
    id,
    message_id: `result of ${id}`,
    result: { tool_name: 'look', status, data: { temp: 7 }, message: null, ...result },
    outcome: outcome[status],
  };
};

const pending = (id: string, suspension: Ticket): RunEvent =>
  callDone(id, { status: 'pending', data: null, message: 'suspended', suspension });

const call = (id: string) => ({ id, name: 'look', arguments: { city: 'Oslo' } });

export const needsApproval = (id: string): RunEvent => pending(id, permissionTicket(call(id)));

export const isForClient = (id: string): RunEvent => pending(id, clientTicket(call(id)));

export const resumed = (
  id: string,
  result: RunEventOf<'tool_call_resumed'>['result'],
  action: 'resume' | 'cancel' = 'resume',
): RunEvent => ({
  event_type: 'tool_call_resumed',
  target_id: id,
  message_id: `decision on ${id}`,
  action,
  result,
});

export const activity = (
  activity_type: string,
  content: RunEventOf<'activity_snapshot'>['content'],
): RunEvent => ({
  event_type: 'activity_snapshot',
  message_id: 'a1',
  activity_type,
  content,
});
