import type { Test } from 'tap';
import { createEventFeed, type EventFeed } from '../../src/events/feed.ts';
import type { EventReader } from '../../src/events/follower.ts';
import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import type { Store } from '../../src/store/index.ts';
import { storeFor } from '../store/open.ts';
import { event, write } from '../store/records.ts';

/** A feed on a real store, and readers with sockets that a test stalls and drains. */

export type TestReader = EventReader & {
  stalled: boolean;
  ended: boolean;
  /** The number of frames in each write. */
  writes: number[];
  frames(): string[];
  /** The event ids of the frames. */
  seen(): string[];
  drain(): void;
  close(): void;
};

export const createReader = (): TestReader => {
  let text = '';
  let closed = (): void => {};
  let drained = (): void => {};
  const reader: TestReader = {
    stalled: false,
    ended: false,
    writes: [],
    write(frames, count) {
      if (reader.stalled) throw new Error('written to while stalled');
      reader.writes.push(count);
      text += frames;
    },
    end() {
      reader.ended = true;
    },
    onClose(listener) {
      closed = listener;
    },
    onDrain(listener) {
      drained = listener;
    },
    frames: () => text.split('\n\n').slice(0, -1),
    seen: () => reader.frames().map((frame) => JSON.parse(frame.slice(frame.indexOf('{'))).event_id),
    drain() {
      reader.stalled = false;
      drained();
    },
    close: () => closed(),
  };
  return reader;
};

export type Logger = {
  store: Store;
  feed: EventFeed;
  /** Errors that the feed has logged. */
  errors: string[];
  /** Appends this many events to `t1`, of the given run if any, and announces them. */
  append(count: number, run_id?: string): Promise<void>;
  /** Appends without announcing; the returned function announces. */
  commit(events: LoggedEvent[], where?: { scope?: string; thread_id?: string }): Promise<() => void>;
};

export const startFeed = async (t: Test, change: (store: Store) => Partial<Store['events']> = () => ({})) => {
  const store = await storeFor(t);
  const errors: string[] = [];
  const feed = createEventFeed({
    store: { events: { ...store.events, ...change(store) } },
    log: { error: (event) => errors.push(event) },
  });
  let numbered = 0;
  const logger: Logger = {
    store,
    feed,
    errors,
    async append(count, run_id) {
      const events = Array.from({ length: count }, () => {
        numbered += 1;
        return event(`e${numbered}`, run_id);
      });
      (await logger.commit(events))();
    },
    async commit(events, { scope = 'default', thread_id = 't1' } = {}) {
      const from_seq = store.events.last(scope, thread_id) + 1;
      await write(store, (batch) => store.events.append(batch, scope, thread_id, from_seq, events));
      return () => feed.appended(scope, thread_id, from_seq, events);
    },
  };
  return logger;
};

/** The ids of the events that `append` creates. */
export const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `e${from + index}`);
