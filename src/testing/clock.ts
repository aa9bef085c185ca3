import type { Clock } from '../schema/clock.ts';

/**
 * A manual clock for tests, which `fakeClock` creates.
 *
 * It determines the reported and measured time of the service and the delays of scripted models. Timers that protect
 * the service from external delays (provider timeouts, the stop timeout) use real time.
 *
 * @example
 * ```ts
 * const nextDay = (clock: FakeClock): Promise<void> => clock.advance(24 * 60 * 60 * 1000);
 * ```
 */
export type FakeClock = Clock & {
  /** Milliseconds since the start of the clock. */
  monotonic(): number;
  /** Advances the time by `ms` and wakes due sleepers in order. */
  advance(ms: number): Promise<void>;
  /** Resolves when the time has advanced by `ms`. Rejects with the reason of the signal if it fires first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves when at least `count` sleepers exist. */
  sleeping(count?: number): Promise<void>;
};

type Sleeper = { due: number; wake(): void };

/** Lets woken code run until it waits for something else. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Creates a clock that only `advance` moves.
 *
 * @param start milliseconds since the epoch; default: the beginning of 2030
 * @example
 * ```ts
 * const clock = fakeClock();
 * const model = scriptedModel([{ text: 'Late.', delayMs: 60_000 }], { clock });
 * await using troupe = await startTestTroupe({ model, clock });
 * const run = troupe.run('Hello');
 * await clock.sleeping();
 * await clock.advance(60_000);
 * console.log((await run).text); // Late.
 * ```
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
      if (!(ms >= 0)) throw new RangeError(`the clock cannot advance by ${ms} ms; allowed: 0 or more`);
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
