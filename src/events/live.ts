import type { EventScope, Store } from '../store/index.ts';
import type { EventRow } from '../store/tables/events.ts';
import type { Follower } from './follower.ts';
import { type EventChunk, readChunk } from './wire.ts';

/**
 * Sends new commits of one log to the followers that have read everything before.
 *
 * Guarantees: an event is encoded once, regardless of the number of followers, and a chunk of a commit is one write for
 * each; a long commit is sent in chunks, one per event-loop tick, so that the data buffered for a slow socket stays
 * small. A follower whose socket has stalled is skipped, and reads the store when it drains.
 * Relies on being notified of a commit only when readers of the store see it and all earlier commits. Notifications may
 * arrive out of order, since some commits wait for the disk: missing events are read from the store, and a late
 * notification about them has no effect.
 * Cost: one comparison and one write per follower and chunk. Only the newest commit is held in memory.
 */
export type LiveLog = {
  /** Adds a follower that has received all visible events. */
  join(follower: Follower): void;
  leave(follower: Follower): void;
  /** Reports rows of this log, from a commit with these sequence numbers. */
  appended(from: number, to: number, rows: readonly EventRow[]): void;
};

export type LiveLogDeps = {
  events: Store['events'];
  /** The follower must read the events after its position from the store. */
  fellBehind(follower: Follower): void;
  failed(followers: readonly Follower[], error: unknown): void;
  /** The last follower has left; no further one will join. */
  emptied(): void;
};

export const createLiveLog = (deps: LiveLogDeps, scope: string, by: EventScope, start: number): LiveLog => {
  const followers = new Set<Follower>();
  /** Sequence number of the last event that was sent. */
  let at = start;
  let newest: { from: number; to: number; rows: readonly EventRow[] } = {
    from: start + 1,
    to: start,
    rows: [],
  };
  let pumping = false;

  /** Returns the visible events that were not sent yet. */
  const unsentRows = (): Iterable<EventRow> =>
    newest.from <= at + 1 ? newest.rows.filter((row) => row.seq > at) : deps.events.read(scope, by, at);

  const advance = (): void => {
    const chunk = readChunk(unsentRows());
    const before = at;
    at = chunk.whole ? Math.max(chunk.last, newest.to) : chunk.last;
    for (const follower of followers) hand(follower, before, chunk);
  };

  const hand = (follower: Follower, before: number, chunk: EventChunk): void => {
    if (follower.at >= at) return;
    if (follower.at !== before) {
      leave(follower);
      deps.fellBehind(follower);
    } else if (chunk.count > 0 && follower.reader.stalled) {
      leave(follower);
      follower.state = 'parked';
    } else {
      if (chunk.count > 0) follower.reader.write(chunk.text, chunk.count);
      follower.at = at;
    }
  };

  const leave = (follower: Follower): void => {
    if (followers.delete(follower) && followers.size === 0) deps.emptied();
  };

  const pump = (): void => {
    pumping = false;
    if (followers.size === 0) return;
    try {
      advance();
      if (at < newest.to) pumpNextTurn();
    } catch (error) {
      const lost = [...followers];
      for (const follower of lost) leave(follower);
      deps.failed(lost, error);
    }
  };

  const pumpNextTurn = (): void => {
    pumping = true;
    setImmediate(pump);
  };

  return {
    join(follower) {
      follower.at = Math.max(follower.at, at);
      followers.add(follower);
    },
    leave,
    appended(from, to, rows) {
      if (to <= newest.to) return;
      newest = { from, to, rows };
      if (!pumping) pump();
    },
  };
};
