import type { Encoder, Protocol } from '../runtime/run/live-channel.ts';
import type { RunEventOf } from '../schema/run-event.ts';

/**
 * Creates a protocol for a reader that may join a run in the middle of its stream: its frames still begin with a start.
 * Decisions arrive while tools execute, so no completion is in progress then.
 * @param name unique per reader, because the encoder is not shared
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
