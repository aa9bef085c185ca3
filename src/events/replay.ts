import type { Store } from '../store/index.ts';
import { EVENTS_A_TURN, type Follower } from './follower.ts';
import { pieceOf } from './wire.ts';

/**
 * Followers that read the store: from where they began, or from where their socket stalled.
 *
 * Guarantees: a follower whose socket takes nothing is not read for; a turn of the event loop reads a bounded
 * number of events, whatever the length of the log and the number of followers, who take turns. A follower that
 * has everything that is visible is handed on within that turn, before anything else can become visible.
 */
export type Replay = {
  /** From the next turn on. */
  add(follower: Follower): void;
};

export const createReplay = (deps: {
  events: Store['events'];
  caughtUp(follower: Follower): void;
  failed(followers: readonly Follower[], error: unknown): void;
}): Replay => {
  const { events, caughtUp, failed } = deps;
  const waiting: Follower[] = [];
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(turn);
  };

  const turn = (): void => {
    scheduled = false;
    for (let left = EVENTS_A_TURN; left > 0; ) {
      const follower = waiting.shift();
      if (!follower) return;
      left -= 1 + serve(follower);
    }
    schedule();
  };

  const serve = (follower: Follower): number => {
    if (follower.state !== 'following') return 0;
    if (follower.reader.stalled) {
      follower.state = 'parked';
      return 0;
    }
    try {
      return advance(follower);
    } catch (error) {
      failed([follower], error);
      return 0;
    }
  };

  const advance = (follower: Follower): number => {
    const { scope, by, at, reader } = follower;
    const piece = pieceOf(events.read(scope, by, at));
    if (piece.count > 0) {
      reader.write(piece.text, piece.count);
      follower.at = piece.last;
    }
    if (piece.whole) {
      caughtUp(follower);
      return piece.count;
    }
    waiting.push(follower);
    // As long as a piece may be, in events or in characters.
    return EVENTS_A_TURN;
  };

  return {
    add(follower) {
      follower.state = 'following';
      waiting.push(follower);
      schedule();
    },
  };
};
