import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Measures pauses of the event loop, which can cost a member its lease. */
export type LoopPauses = {
  /** The longest pause of the last minute, in milliseconds. */
  longestMs(): number;
  stop(): void;
};

const WINDOW_MS = 60_000;
const RESOLUTION_MS = 20;
const NS_A_MS = 1e6;

export const measureLoopPauses = (monotonic: () => number): LoopPauses => {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let begunAt = monotonic();
  let beforeMs = 0;
  return {
    longestMs() {
      const presentMs = Math.max(0, delay.max / NS_A_MS - RESOLUTION_MS);
      const longestMs = Math.max(beforeMs, presentMs);
      if (monotonic() - begunAt >= WINDOW_MS) {
        beforeMs = presentMs;
        begunAt = monotonic();
        delay.reset();
      }
      return longestMs;
    },
    stop: () => void delay.disable(),
  };
};
