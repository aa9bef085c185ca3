import type { EventScope } from '../store/index.ts';

/** The sink of frames, such as an event stream of `src/http`. Never blocks. */
export type EventReader = {
  write(frames: string, count: number): void;
  end(): void;
  /** Calls the listener once, even if the reader is already closed. */
  onClose(listener: () => void): void;
  onDrain(listener: () => void): void;
  /** True while the socket accepts no data; `onDrain` reports when it does again. Earlier writes have been sent. */
  readonly stalled: boolean;
};

/**
 * A reader and its position in a log. `following`: it receives events from the store, then from commits; `parked`: it
 * receives none until its socket accepts data again.
 */
export type Follower = {
  readonly scope: string;
  readonly by: EventScope;
  readonly reader: EventReader;
  /** Sequence number of the last event written to the reader; it has received all earlier ones. */
  at: number;
  state: 'following' | 'parked' | 'gone';
};

/** Maximum number of events that are read, and written to one reader, per event-loop tick. */
export const EVENTS_A_TURN = 512;
