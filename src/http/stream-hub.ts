import { cutOff } from './exchange.ts';
import { type Stream, type StreamHub, sendHeartbeat } from './sse.ts';

/**
 * The open event streams of one server, and their heartbeats.
 *
 * One timer serves all streams. It counts `BEATS` beats per heartbeat interval, and a stream records the beat of its
 * last output. So output requires neither a timer nor a clock read, and a heartbeat is never early and at most one beat
 * late. The timer runs only while streams are open.
 */
const BEATS = 15;

export const createStreamHub = (options: {
  heartbeatMs: number;
  maxHeldFrames: number;
  observe: (delta: 1 | -1) => void;
}): StreamHub & {
  /** Ends the open streams, each with a complete body. */
  close(): void;
  /** Disconnects the clients of the open streams, which do not receive an end. */
  cutOff(): void;
} => {
  const { maxHeldFrames, observe } = options;
  const period = Math.ceil(options.heartbeatMs / BEATS);
  const silentBeats = Math.ceil(options.heartbeatMs / period);
  const streams = new Set<Stream>();
  let beat = 0;
  let timer: NodeJS.Timeout | undefined;

  const sweep = (): void => {
    beat += 1;
    for (const stream of streams) if (beat - stream.lastBeat > silentBeats) sendHeartbeat(stream);
  };

  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    maxHeldFrames,
    get beat() {
      return beat;
    },
    opened(stream) {
      streams.add(stream);
      timer ??= setInterval(sweep, period);
      observe(1);
    },
    closed(stream) {
      if (!streams.delete(stream)) return;
      if (streams.size === 0) stop();
      observe(-1);
    },
    close() {
      for (const stream of streams) stream.end();
      stop();
    },
    cutOff() {
      for (const { exchange } of [...streams]) if (exchange) cutOff(exchange);
    },
  };
};
