import type { Pause } from '../../src/models/retry.ts';

/** A clock and a pause that agree: time jumps to the next timer as soon as nothing else is left to do. */
export const createVirtualTime = () => {
  type Timer = { at: number; end(): void };
  const timers = new Set<Timer>();
  const clock = { time: 0, now: () => clock.time };
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const timer: Timer = {
        at: clock.time + ms,
        end() {
          timers.delete(timer);
          signal?.removeEventListener('abort', timer.end);
          resolve();
        },
      };
      signal?.addEventListener('abort', timer.end);
      timers.add(timer);
    });
  const pause: Pause = (ms, signal) => sleep(ms, signal);
  /** Until the work is done. */
  const during = async <Result>(work: Promise<Result>): Promise<Result> => {
    let done = false;
    const finished = work.finally(() => {
      done = true;
    });
    finished.catch(() => {});
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve));
      if (done) break;
      const [next] = [...timers].sort((one, other) => one.at - other.at);
      if (!next) throw new Error('nothing will happen any more');
      clock.time = Math.max(clock.time, next.at);
      next.end();
    }
    return finished;
  };
  return { clock, pause, sleep, during };
};
