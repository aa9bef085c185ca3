import type { Encoder, Protocol } from '../runtime/channel.ts';
import type { RunEventOf } from '../schema/run-event.ts';

/**
 * For a reader that may come to a run in the middle of its stream: what it gets begins with a start all the same.
 * Answers come while tools execute, so no message of the model is under way then.
 * @param name of no other reader, as the encoder is for this one alone
 */
export const joiningProtocol = (
  name: string,
  createEncoder: () => Encoder,
  run: Pick<RunEventOf<'run_start'>, 'run_id' | 'thread_id'>,
): Protocol => ({
  name,
  createEncoder() {
    const encoder = createEncoder();
    let started = false;
    const start = (): string => {
      if (started) return '';
      started = true;
      return encoder.event({ event_type: 'run_start', ...run });
    };
    return {
      event(event) {
        if (event.event_type === 'run_start') started = true;
        return start() + encoder.event(event);
      },
      text: (delta) => start() + encoder.text(delta),
      reasoning: (delta) => start() + encoder.reasoning(delta),
      toolDelta: (id, delta) => start() + encoder.toolDelta(id, delta),
    };
  },
});
