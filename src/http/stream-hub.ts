import { type Stream, type StreamHub, sendHeartbeat } from './sse.ts';

/**
 * The open event streams of one server, and their heartbeats.
 *
 * One timer serves all of them. It counts beats, `BEATS` in the time that a stream may be silent, and a stream
 * notes the beat of its last output: so output costs neither a timer nor a look at the clock, a heartbeat is never
 * early, and at most one beat late. The timer runs while there are streams.
 */
const BEATS = 15;

export const createStreamHub = (options: {
  heartbeatMs: number;
  maxHeldFrames: number;
  observe: (delta: 1 | -1) => void;
}): StreamHub & {
  /** Ends the streams that are still open, each with a whole body. */
  close(): void;
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
  };
};
