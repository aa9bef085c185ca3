import type { EventRow } from '../store/events.ts';
import type { EventScope, Store } from '../store/index.ts';
import type { Follower } from './follower.ts';
import { type Piece, pieceOf } from './wire.ts';

/**
 * The end of one log, for those who have read all before it.
 *
 * Guarantees: an event becomes a frame once, however many followers there are, and a piece of a commit is one
 * write for each; a long commit goes out in pieces, one a turn of the event loop, so that what a socket does not
 * take stays small. A follower whose socket has stalled is left out, and reads the store when it drains.
 * Relies on being told of a commit only when readers of the store see it and everything committed before it.
 * Commits may be told out of order, since some wait for the disk: what was not told yet is read from the store,
 * and told later it is nothing new.
 * Costs one comparison and one write a follower and piece. Of the commits, only the newest is held in memory.
 */
export type LiveLog = {
  /** The follower has had everything that is visible. */
  join(follower: Follower): void;
  leave(follower: Follower): void;
  /** Rows of this log, from a commit with these sequence numbers. */
  told(from: number, to: number, rows: readonly EventRow[]): void;
};

export type LiveLogDeps = {
  events: Store['events'];
  /** The follower has to read from the store what lies behind its place. */
  fellBehind(follower: Follower): void;
  failed(followers: readonly Follower[], error: unknown): void;
  /** The last follower has left; nobody will join any more. */
  emptied(): void;
};

export const createLiveLog = (deps: LiveLogDeps, scope: string, by: EventScope, start: number): LiveLog => {
  const followers = new Set<Follower>();
  /** Everything up to this number has been handed out. */
  let at = start;
  let newest: { from: number; to: number; rows: readonly EventRow[] } = {
    from: start + 1,
    to: start,
    rows: [],
  };
  let pumping = false;

  /** What has not been handed out, as far as it is visible. */
  const left = (): Iterable<EventRow> =>
    newest.from <= at + 1 ? newest.rows.filter((row) => row.seq > at) : deps.events.read(scope, by, at);

  const advance = (): void => {
    const piece = pieceOf(left());
    const before = at;
    at = piece.whole ? Math.max(piece.last, newest.to) : piece.last;
    for (const follower of followers) hand(follower, before, piece);
  };

  const hand = (follower: Follower, before: number, piece: Piece): void => {
    if (follower.at >= at) return;
    if (follower.at !== before) {
      leave(follower);
      deps.fellBehind(follower);
    } else if (piece.count > 0 && follower.reader.stalled) {
      leave(follower);
      follower.state = 'parked';
    } else {
      if (piece.count > 0) follower.reader.write(piece.text, piece.count);
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
    told(from, to, rows) {
      if (to <= newest.to) return;
      newest = { from, to, rows };
      if (!pumping) pump();
    },
  };
};
