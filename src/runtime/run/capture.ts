import { type RunEventKind, runEventKinds } from '../../schema/event-kinds.ts';
import type { RunEvent } from '../../schema/run-event.ts';

/**
 * Selects the run events for the event log, and the kind under which each is logged (runtime.md 13.3, 13.4). Observed
 * events (deltas, step marks, snapshots) are logged in full fidelity only.
 */

export type CaptureMode = 'disabled' | 'compacted' | 'full_fidelity';

/** The kinds of events that have only one; for the others, `kindsOf` reads the content of the event. */
const KIND_OF = new Map(
  runEventKinds.map(([kind, { from, observed }]) => [from, { kind, isObserved: observed === true }] as const),
);

const FINISHED = {
  natural_end: 'RunFinished',
  behavior_requested: 'RunFinished',
  suspended: 'RunSuspended',
  cancelled: 'RunCancelled',
  error: 'RunErrored',
  stopped: 'RunTerminated',
  blocked: 'RunTerminated',
} as const;

/** Returns the kinds under which an event is logged: none, one, or one with a companion. */
export const kindsOf = (event: RunEvent, mode: CaptureMode, continued: boolean): readonly RunEventKind[] => {
  if (mode === 'disabled') return [];
  switch (event.event_type) {
    case 'run_start':
      return [continued ? 'RunResumed' : 'RunStarted'];
    case 'run_finish':
      return [event.result?.status === 'waiting' ? 'RunSuspended' : FINISHED[event.termination.type]];
    case 'tool_call_done':
      return doneKinds(event);
    default: {
      const found = KIND_OF.get(event.event_type);
      return found && (mode === 'full_fidelity' || !found.isObserved) ? [found.kind] : [];
    }
  }
};

const doneKinds = ({
  result,
  outcome,
}: Extract<RunEvent, { event_type: 'tool_call_done' }>): RunEventKind[] => {
  if (outcome === 'suspended') {
    const requestsPermission =
      result.suspension?.resume_mode === 'replay_tool_call' && result.suspension.suspension.id.trim() !== '';
    return requestsPermission ? ['ToolCallSuspended', 'ToolPermissionRequested'] : ['ToolCallSuspended'];
  }
  if (result.metadata?.rejected === true) return ['ToolCallRejected'];
  if (result.metadata?.timed_out === true) return ['ToolCallTimedOut'];
  return ['ToolCallDone'];
};
