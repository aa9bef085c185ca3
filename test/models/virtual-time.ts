import type { Pause } from '../../src/models/retry.ts';

/** A clock and a pause on virtual time, which jumps to the next timer once no other work is left. */
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
  /** Advances the time until the work is done. */
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
      if (!next) throw new Error('no further step is scheduled');
      clock.time = Math.max(clock.time, next.at);
      next.end();
    }
    return finished;
  };
  return { clock, pause, sleep, during };
};
