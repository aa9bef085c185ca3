import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { RunEvent } from '../schema/run-event.ts';

/**
 * Converts the log of a run to the run events that encoders take.
 *
 * A compacted log has no steps and no deltas (runtime.md 13.3), so they are reconstructed: a step around each
 * inference, with the text of the message that the step stored, before the calls of the message. So a replayed run has
 * the same form as a live one whose deltas arrived all at once.
 * Relies on the message of a step being logged in the same commit as its calls: the log is read ahead for it.
 */

export type LogRow = { seq: number; event: LoggedEvent };

export type ReplayedRow = { row: LogRow; events: RunEvent[] };

/** `rows` are those of one run, oldest first; they are read lazily. */
export function* replayedRows(rows: Iterable<LogRow>): Iterable<ReplayedRow> {
  const log = rows[Symbol.iterator]();
  const buffered: LogRow[] = [];
  const peek = (index: number): LogRow | undefined => {
    while (buffered.length <= index) {
      const next = log.next();
      if (next.done) return undefined;
      buffered.push(next.value);
    }
    return buffered[index];
  };
  const steps = createSteps();
  for (;;) {
    const row = peek(0);
    if (!row) return;
    const event = runEventOf(row);
    yield { row, events: event ? steps.withSteps(event, () => messageAhead(peek)) : [] };
    buffered.shift();
  }
}

/** Returns the run event of a row, or undefined for other rows and for a duplicate. */
export const runEventOf = ({ event }: LogRow): RunEvent | undefined =>
  'event_type' in event.payload && event.event_kind !== COMPANION
    ? // Payloads with this key are run events in their emitted form.
      (event.payload as RunEvent)
    : undefined;

const COMPANION = 'ToolPermissionRequested';

type StepMessage = { message_id: string; text: string };

const createSteps = () => {
  /** `logged`: the log itself contains the start and the end of the step. */
  let step: 'none' | 'logged' | 'asking' | 'asked' = 'none';

  const begin = (message: StepMessage | undefined): RunEvent[] => {
    const events: RunEvent[] = step === 'asked' ? [{ event_type: 'step_end' }] : [];
    events.push({ event_type: 'step_start', message_id: message?.message_id ?? '' });
    if (message && message.text !== '') events.push({ event_type: 'text_delta', delta: message.text });
    return events;
  };

  const inStep = (event: RunEvent, message: () => StepMessage | undefined): RunEvent[] => {
    const before = step === 'asking' ? [] : begin(message());
    if (event.event_type !== 'tool_call_ready') {
      step = 'asked';
      return [...before, event];
    }
    step = 'asking';
    return [...before, { event_type: 'tool_call_start', id: event.id, name: event.name }, event];
  };

  return {
    withSteps(event: RunEvent, message: () => StepMessage | undefined): RunEvent[] {
      switch (event.event_type) {
        case 'tool_call_ready':
        case 'inference_complete':
          return step === 'logged' ? [event] : inStep(event, message);
        case 'step_start':
          step = 'logged';
          return [event];
        case 'step_end':
          step = 'none';
          return [event];
        case 'run_start':
        case 'run_finish':
        case 'error': {
          const open = step === 'asking' || step === 'asked';
          step = 'none';
          return open ? [{ event_type: 'step_end' }, event] : [event];
        }
        default:
          return [event];
      }
    },
  };
};

/** Returns the message of the step that begins with the first row. */
const messageAhead = (peek: (index: number) => LogRow | undefined): StepMessage | undefined => {
  let hasInference = false;
  for (let index = 0; ; index += 1) {
    const row = peek(index);
    if (!row) return undefined;
    const type = runEventOf(row)?.event_type;
    const nextStep = hasInference && (type === 'tool_call_ready' || type === 'inference_complete');
    if (nextStep || type === 'run_start' || type === 'step_start') return undefined;
    if (type === 'inference_complete') hasInference = true;
    if (row.event.event_kind === 'MessageCommitted' && row.event.payload.message_kind === 'assistant_output')
      return stepMessage(row.event.payload);
  }
};

const stepMessage = ({ message_id, content_blocks }: Record<string, unknown>): StepMessage => ({
  message_id: String(message_id),
  text: Array.isArray(content_blocks)
    ? content_blocks.map(({ type, text }) => (type === 'text' ? text : '')).join('')
    : '',
});
