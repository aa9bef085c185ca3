/**
 * Simulated time that only a test advances. Timers of the process with a delay use this time; those that only wait for
 * the next event-loop tick stay real, because the store relies on them. Uninstall it before anything outside the test
 * runs.
 */

type Timer = { at: number; order: number; every: number | undefined; run(): void };

export type VirtualTime = {
  now(): number;
  /** Runs the timers that become due, in order, and lets the effects of each one settle. */
  advance(ms: number, settle: () => Promise<void>): Promise<void>;
  /** Whether a one-shot timer is pending; intervals do not count. */
  waits(): boolean;
  /** Removes all timers of a process that has ended. */
  clear(): void;
  uninstall(): void;
};

const BEGIN = 1_765_000_000_000;

export const installTime = (): VirtualTime => {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval };
  const timers = new Map<object, Timer>();
  let now = BEGIN;
  let order = 0;

  const add = (run: () => void, ms: number, every: number | undefined): object => {
    const handle = { unref: () => handle, ref: () => handle, hasRef: () => false };
    order += 1;
    timers.set(handle, { at: now + ms, order, every, run });
    return handle;
  };

  const stop = (handle: unknown): void => {
    if (typeof handle === 'object' && handle !== null && timers.delete(handle)) return;
    // Any other handle came from the real function.
    real.clearTimeout(handle as NodeJS.Timeout | undefined);
  };

  const set = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): object =>
    ms > 0 ? add(() => run(...args), ms, undefined) : real.setTimeout(run, ms, ...args);

  Object.assign(globalThis, {
    setTimeout: set,
    clearTimeout: stop,
    setInterval: (run: () => void, ms: number) => add(run, ms, ms),
    clearInterval: stop,
  });

  const next = (until: number): [object, Timer] | undefined =>
    [...timers]
      .filter(([, { at }]) => at <= until)
      .sort(([, a], [, b]) => a.at - b.at || a.order - b.order)[0];

  return {
    now: () => now,
    async advance(ms, settle) {
      const until = now + ms;
      for (let due = next(until); due; due = next(until)) {
        const [handle, timer] = due;
        now = Math.max(now, timer.at);
        if (timer.every === undefined) timers.delete(handle);
        else timer.at += timer.every;
        timer.run();
        await settle();
      }
      now = until;
    },
    waits: () => [...timers.values()].some(({ every }) => every === undefined),
    clear: () => timers.clear(),
    uninstall: () => void Object.assign(globalThis, real),
  };
};
