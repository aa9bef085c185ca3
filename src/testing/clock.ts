import type { Clock } from '../schema/clock.ts';

/**
 * Time that stands still until a test lets it go on.
 *
 * What the service tells of time and what it measures follows it, and so do the delays of scripted models. Timers
 * that guard the service against the outside (time limits of providers, the wait for a stop) stay with real time.
 */
export type FakeClock = Clock & {
  monotonic(): number;
  /** Goes on by so many milliseconds; who sleeps wakes when its time has come, in order. */
  advance(ms: number): Promise<void>;
  /** Rejects with the reason of the signal, when that fires before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves when at least so many sleep. */
  sleeping(count?: number): Promise<void>;
};

type Sleeper = { due: number; wake(): void };

/** Lets go on who has just been woken, as far as it comes without waiting for anything else. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * @param start milliseconds since the epoch; default: the beginning of 2030
 * @example
 * const clock = fakeClock();
 * const model = scriptedModel([{ text: 'Late.', delayMs: 60_000 }], { clock });
 * await using troupe = await startTestTroupe({ model, clock });
 * const run = troupe.run('Hello');
 * await clock.sleeping();
 * await clock.advance(60_000);
 * console.log((await run).text);
 */
export const fakeClock = (start: number = Date.UTC(2030, 0, 1)): FakeClock => {
  let now = start;
  const sleepers = new Set<Sleeper>();
  const watchers = new Set<() => void>();
  const nextDue = (until: number): Sleeper | undefined =>
    [...sleepers].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];

  return {
    now: () => now,
    monotonic: () => now - start,
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`the clock cannot go on by ${ms} ms; allowed: 0 or more`);
      const until = now + ms;
      for (let sleeper = nextDue(until); sleeper; sleeper = nextDue(until)) {
        now = Math.max(now, sleeper.due);
        sleeper.wake();
        await turn();
      }
      now = until;
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', cancel);
        };
        const cancel = (): void => {
          leave();
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          due: now + ms,
          wake() {
            leave();
            resolve();
          },
        };
        if (signal?.aborted) return reject(signal.reason);
        signal?.addEventListener('abort', cancel);
        sleepers.add(sleeper);
        for (const look of [...watchers]) look();
      }),
    sleeping: (count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (sleepers.size < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
};
