import type { RunEvent } from '../schema/run-event.ts';

/**
 * Which run events enter the event log, and under which kind (runtime.md 13.3, 13.4).
 * Observed events (deltas, step marks, snapshots) are logged in full fidelity only.
 */

export type CaptureMode = 'disabled' | 'compacted' | 'full_fidelity';

const OBSERVED: Partial<Record<RunEvent['event_type'], string>> = {
  text_delta: 'TextDeltaObserved',
  reasoning_delta: 'ReasoningDeltaObserved',
  reasoning_encrypted_value: 'ReasoningEncryptedValueObserved',
  tool_call_start: 'ToolCallStarted',
  tool_call_delta: 'ToolCallDeltaObserved',
  tool_call_stream_delta: 'ToolCallStreamDeltaObserved',
  step_start: 'StepStarted',
  step_end: 'StepEnded',
  messages_snapshot: 'MessagesSnapshotObserved',
  activity_snapshot: 'ActivitySnapshotObserved',
  activity_delta: 'ActivityDeltaObserved',
  state_snapshot: 'StateSnapshotObserved',
  state_delta: 'StateDeltaObserved',
};

const COMMITTED: Partial<Record<RunEvent['event_type'], string>> = {
  tool_call_ready: 'ToolCallReady',
  stream_reset: 'StreamReset',
  inference_complete: 'InferenceComplete',
  tool_call_resumed: 'ToolCallResumed',
  tool_call_cancel: 'ToolCallCancelled',
  error: 'ErrorRecorded',
};

const FINISHED = {
  natural_end: 'RunFinished',
  behavior_requested: 'RunFinished',
  suspended: 'RunSuspended',
  cancelled: 'RunCancelled',
  error: 'RunErrored',
  stopped: 'RunTerminated',
  blocked: 'RunTerminated',
} as const;

/** The kinds under which an event is logged: none, one, or one with its companion. */
export const kindsOf = (event: RunEvent, mode: CaptureMode, continued: boolean): readonly string[] => {
  if (mode === 'disabled') return [];
  switch (event.event_type) {
    case 'run_start':
      return [continued ? 'RunResumed' : 'RunStarted'];
    case 'run_finish':
      return [event.result?.status === 'waiting' ? 'RunSuspended' : FINISHED[event.termination.type]];
    case 'tool_call_done':
      return doneKinds(event);
    default: {
      const kind =
        COMMITTED[event.event_type] ?? (mode === 'full_fidelity' ? OBSERVED[event.event_type] : undefined);
      return kind === undefined ? [] : [kind];
    }
  }
};

const doneKinds = ({ result, outcome }: Extract<RunEvent, { event_type: 'tool_call_done' }>): string[] => {
  if (outcome === 'suspended') {
    const asks =
      result.suspension?.resume_mode === 'replay_tool_call' && result.suspension.suspension.id.trim() !== '';
    return asks ? ['ToolCallSuspended', 'ToolPermissionRequested'] : ['ToolCallSuspended'];
  }
  if (result.metadata?.rejected === true) return ['ToolCallRejected'];
  if (result.metadata?.timed_out === true) return ['ToolCallTimedOut'];
  return ['ToolCallDone'];
};
