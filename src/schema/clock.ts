/** Time and identity come from one injected pair, so that tests control them. */
export type Clock = {
  /** milliseconds since the epoch */
  now(): number;
  /** milliseconds since some moment, of a clock that nobody sets; absent where nobody sets `now` either */
  monotonic?(): number;
};

/** What durations are measured with: the wall clock may be set while something lasts. */
export const monotonic = (clock: Clock): number => clock.monotonic?.() ?? clock.now();

export type Ids = {
  /** A new UUIDv7, lowercase with hyphens; ids of one process are strictly increasing. */
  uuid(): string;
};

export const seconds = (ms: number): number => Math.floor(ms / 1000);
