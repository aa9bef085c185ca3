/** Time and identity come from one injected pair, so that tests control them. */
export type Clock = {
  /** milliseconds since the epoch */
  now(): number;
};

export type Ids = {
  /** A new UUIDv7, lowercase with hyphens; ids of one process are strictly increasing. */
  uuid(): string;
};

export const seconds = (ms: number): number => Math.floor(ms / 1000);
