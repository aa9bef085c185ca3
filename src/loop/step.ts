import { reportInference, retriesOf } from './answer.ts';
import { takeCompaction } from './compaction.ts';
import { runPhase } from './phases.ts';
import { endProviderCalls, takeBackCalls } from './provider-calls.ts';
import { sendHeld } from './result-call.ts';
import { setLifecycle } from './state.ts';
import { noteTasks } from './tasks.ts';
import { produce, type Step, type Turn } from './turn.ts';

/** Ends the open step of a turn, in one of the ways of runtime.md 6.3. Without an open step nothing happens. */

/**
 * Runs the hooks, then emits the state snapshot and `step_end`. A cancelled inference is reported and not counted. If
 * the run is cancelled while the hooks run, another caller closes the step: hooks run once, and the step is closed
 * once.
 */
export const completeStep = async (turn: Turn, signal: AbortSignal): Promise<void> => {
  const { step } = turn;
  if (!step) return;
  if (countStep(turn, step)) await runPhase(turn, 'step_end', signal);
  if (turn.step === step) closeStep(turn);
};

/** Like `completeStep`, synchronously, for a step without hooks for its end. */
export const completeStepNow = (turn: Turn): void => {
  const { step } = turn;
  if (!step) return;
  countStep(turn, step);
  closeStep(turn);
};

/** Whether the step counts, and did not before. */
const countStep = (turn: Turn, step: Step): boolean => {
  if (!step.reported) {
    step.attempts?.brokeOff();
    step.attempts?.end();
    endProviderCalls(turn, step, CUT_OFF);
    reportInference(turn);
    turn.cutOff = step;
    return false;
  }
  if (step.completed) return false;
  step.completed = true;
  keepNote(turn);
  takeCompaction(turn);
  noteTasks(turn);
  turn.steps += 1;
  return true;
};

const CUT_OFF = 'the completion was cut off';

const keepNote = (turn: Turn): void => {
  if (turn.note === undefined) return;
  produce(turn, {
    id: turn.ids.uuid(),
    role: 'user',
    content: [{ type: 'text', text: turn.note }],
    visibility: 'internal',
  });
  turn.note = undefined;
};

const closeStep = (turn: Turn): void => {
  if (turn.step) sendHeld(turn, turn.step);
  turn.step = undefined;
  setLifecycle(turn.state, {
    run_id: turn.run_id,
    status: 'running',
    updated_at: turn.clock.now(),
    step_count: turn.steps,
  });
  turn.stream.emit({ event_type: 'state_snapshot', snapshot: turn.state.snapshot() });
  turn.stream.emit({ event_type: 'step_end' });
};

/** `attempt`: the number of the next attempt. */
type Reset = { reason: string; error?: string; attempt?: number; max_attempts?: number };

/** Closes the step of a failed inference: it does not count, and its streamed output is not kept. */
export const abandonStep = (turn: Turn, reset?: Reset): void => {
  const { step } = turn;
  const { text: all = '', unsent = '' } = step ?? {};
  const text = all.slice(0, all.length - unsent.length);
  if (step && reset) takeBackCalls(turn, step, reset.reason);
  else if (step) endProviderCalls(turn, step, CUT_OFF);
  if (reset) {
    turn.stream.emit({
      event_type: 'stream_reset',
      ...reset,
      ...(text !== '' && { text }),
      ...retriesOf(step),
    });
  }
  if (!turn.step) return;
  turn.step.attempts?.brokeOff();
  turn.step.attempts?.end();
  // Withdrawn output is no answer, not even a partial one.
  if (!turn.step.reported && !reset) turn.cutOff = turn.step;
  turn.step = undefined;
  turn.stream.emit({ event_type: 'step_end' });
};
