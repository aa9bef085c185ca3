import type { CanonicalEvent, LoggedEvent } from '../schema/canonical-event.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import { fillPage } from '../schema/page-rows.ts';
import type { EventScope, Store } from '../store/index.ts';
import type { EventRow } from '../store/tables/events.ts';
import type { EventReader, Follower } from './follower.ts';
import { createLiveLog, type LiveLog } from './live.ts';
import { createReplay } from './replay.ts';
import { cursorOf, errorFrame, findPosition, START, wireEvent } from './wire.ts';

/**
 * Serves the event log of threads and runs to readers: pages, and frames as they are committed (runtime.md 13.2).
 *
 * Guarantees: a follower of a log receives every event after its start, once and in order, regardless of concurrent
 * commits and of the speed of its socket; it slows down neither the writer nor other followers. A follower reads the
 * store (`replay.ts`) until it has all visible events, then it receives new commits (`live.ts`); events missed by a
 * stalled socket are read from the store again.
 * Relies on `appended` being called for every commit with events, once readers of the store see it.
 * Cost: nothing without followers; otherwise a Map lookup for the thread of a commit and for each of its runs.
 */
export type EventPage = {
  items: CanonicalEvent[];
  /** The JSON text of each item. */
  texts: string[];
  next_cursor: string | null;
  has_more: boolean;
};

export type EventFeed = {
  /** Called when events of a thread, by sequence number, have become visible. Does not throw. */
  appended(scope: string, thread_id: string, from_seq: number, events: readonly LoggedEvent[]): void;
  /**
   * Returns the events after the cursor, or from the beginning, oldest first. An unknown log is empty.
   *
   * @throws Invalid (blank cursor), Gone (a cursor of another log)
   */
  list(scope: string, by: EventScope, cursor: string | undefined, limit: number): EventPage;
  /** Returns the cursor after the newest event. */
  end(scope: string, by: EventScope): string;
  /**
   * Writes the events after the cursor until the reader closes. When the store fails, the last frame is an `error`.
   *
   * @throws Invalid (blank cursor), Gone (a cursor of another log)
   */
  follow(scope: string, by: EventScope, cursor: string, reader: EventReader): void;
};

export type EventFeedDeps = {
  store: Pick<Store, 'events'>;
  log: Pick<ServiceLog, 'error'>;
};

export const createEventFeed = ({ store: { events }, log }: EventFeedDeps): EventFeed => {
  /** Logs that have live followers. */
  const logs = new Map<string, LiveLog>();

  const failed = (followers: readonly Follower[], error: unknown): void => {
    log.error('events.stream_failed', { err: error, followers: followers.length });
    const frame = errorFrame(error);
    for (const follower of followers) {
      follower.state = 'gone';
      follower.reader.write(frame, 1);
      follower.reader.end();
    }
  };

  const caughtUp = (follower: Follower): void => {
    const { scope, by, at } = follower;
    const key = keyOf(scope, by);
    let live = logs.get(key);
    if (!live) {
      const emptied = (): void => void logs.delete(key);
      live = createLiveLog({ events, failed, emptied, fellBehind: replay.add }, scope, by, at);
      logs.set(key, live);
    }
    live.join(follower);
  };

  const replay = createReplay({ events, caughtUp, failed });

  return {
    appended(scope, thread_id, from_seq, added) {
      if (logs.size === 0 || added.length === 0) return;
      const to = from_seq + added.length - 1;
      const numbered = () => added.map((event, index) => ({ seq: from_seq + index, event }));
      logs.get(keyOf(scope, { thread_id }))?.appended(from_seq, to, numbered());
      for (const run_id of runsOf(added)) {
        const isOfRun = ({ event }: EventRow): boolean => event.run_id === run_id;
        logs.get(keyOf(scope, { run_id }))?.appended(from_seq, to, numbered().filter(isOfRun));
      }
    },
    list(scope, by, cursor, limit) {
      const after = cursor === undefined ? 0 : findPosition(events, scope, by, cursor);
      const found = wireEvents(events.read(scope, by, after));
      const { rows, texts, more } = fillPage(found, limit, ({ item }) => item);
      const last = rows.at(-1);
      return {
        items: rows.map(({ item }) => item),
        texts,
        next_cursor: more && last ? last.cursor : null,
        has_more: more,
      };
    },
    end(scope, by) {
      const newest = events.newest(scope, by);
      return newest ? cursorOf(newest) : START;
    },
    follow(scope, by, cursor, reader) {
      const at = findPosition(events, scope, by, cursor);
      const follower: Follower = { scope, by, reader, at, state: 'following' };
      replay.add(follower);
      reader.onClose(() => {
        follower.state = 'gone';
        logs.get(keyOf(scope, by))?.leave(follower);
      });
      reader.onDrain(() => {
        if (follower.state === 'parked') replay.add(follower);
      });
    },
  };
};

function* wireEvents(rows: Iterable<EventRow>): Iterable<{ item: CanonicalEvent; cursor: string }> {
  for (const row of rows) yield { item: wireEvent(row), cursor: cursorOf(row) };
}

/** A scope has no control characters, so the keys of two logs never collide. */
const keyOf = (scope: string, by: EventScope): string =>
  'thread_id' in by ? `thread\0${scope}\0${by.thread_id}` : `run\0${scope}\0${by.run_id}`;

const runsOf = (events: readonly LoggedEvent[]): Set<string> => {
  const runs = new Set<string>();
  for (const { run_id } of events) if (run_id !== undefined) runs.add(run_id);
  return runs;
};
