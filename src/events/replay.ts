import type { Store } from '../store/index.ts';
import { EVENTS_A_TURN, type Follower } from './follower.ts';
import { readChunk } from './wire.ts';

/**
 * Serves followers from the store: from their start, or from the position where their socket stalled.
 *
 * Guarantees: no events are read for a follower with a stalled socket; an event-loop tick reads a bounded number of
 * events, regardless of the length of the log and the number of followers, which are served in turn. A follower that
 * has received all visible events is passed on within that tick, before further events can become visible.
 */
export type Replay = {
  /** Serves the follower from the next tick on. */
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
    const chunk = readChunk(events.read(scope, by, at));
    if (chunk.count > 0) {
      reader.write(chunk.text, chunk.count);
      follower.at = chunk.last;
    }
    if (chunk.whole) {
      caughtUp(follower);
      return chunk.count;
    }
    waiting.push(follower);
    // A full chunk uses up the tick, whether it is limited by events or by characters.
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
