import type { EventScope } from '../store/index.ts';

/** Where frames go; an event stream of `src/http` is one. Never blocks. */
export type EventReader = {
  write(frames: string, count: number): void;
  end(): void;
  /** Called once, also when it is closed already. */
  onClose(listener: () => void): void;
  onDrain(listener: () => void): void;
  /** Takes nothing now; `onDrain` tells when it does. What was written before has left. */
  readonly stalled: boolean;
};

/**
 * A reader and its place in a log. `following`: what it has not had comes from the store, then from the commits;
 * `parked`: from nowhere, until its socket takes data again.
 */
export type Follower = {
  readonly scope: string;
  readonly by: EventScope;
  readonly reader: EventReader;
  /** It has been written every event of its log up to this sequence number, and none behind it. */
  at: number;
  state: 'following' | 'parked' | 'gone';
};

/** The most events that are read, and written to one reader, in one turn of the event loop. */
export const EVENTS_A_TURN = 512;
