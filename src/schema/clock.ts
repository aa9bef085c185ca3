/** Time and ids come from one injected pair, so that tests control them. */

/**
 * The time of the service. Default: the clock of the host. `fakeClock` of `troupe/testing` is one that tests control.
 *
 * @example
 * ```ts
 * const clock: Clock = { now: () => Date.UTC(2030, 0, 1), monotonic: () => 0 };
 * const troupe = await createTroupe({ listen: false, clock });
 * ```
 */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary moment, by a clock that is never set; absent if `now` is never set either. */
  monotonic?(): number;
};

/** Returns the time for measuring durations, since the wall clock may be set in between. */
export const monotonic = (clock: Clock): number => clock.monotonic?.() ?? clock.now();

/**
 * The source of ids of threads, runs and messages. Default: UUIDv7 of the time and random bits.
 *
 * @example
 * ```ts
 * let count = 0;
 * const ids: Ids = { uuid: () => `01900000-0000-7000-8000-${String(++count).padStart(12, '0')}` };
 * ```
 */
export type Ids = {
  /** A new UUIDv7, lowercase with hyphens; ids of one process are strictly increasing. */
  uuid(): string;
};

/** Returns the time in a UUIDv7, in milliseconds; undefined for other ids. */
export const timeOfId = (id: string): number | undefined =>
  id.length === 36 && id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;

export const seconds = (ms: number): number => Math.floor(ms / 1000);
