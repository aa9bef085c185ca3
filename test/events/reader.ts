import type { Test } from 'tap';
import { createEventFeed, type EventFeed } from '../../src/events/feed.ts';
import type { EventReader } from '../../src/events/follower.ts';
import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import type { Store } from '../../src/store/index.ts';
import { storeFor } from '../store/open.ts';
import { event, write } from '../store/records.ts';

/** A feed on a real store, and readers whose sockets a test stalls and drains. */

export type TestReader = EventReader & {
  stalled: boolean;
  ended: boolean;
  /** How many frames each write had. */
  writes: number[];
  frames(): string[];
  /** Ids of the events of the frames. */
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
  /** What the feed has put into the log of the service. */
  errors: string[];
  /** Appends so many events to `t1`, of this run if one is given, and tells the feed. */
  append(count: number, run_id?: string): Promise<void>;
  /** Appends without telling; the answer tells. */
  commit(events: LoggedEvent[], where?: { scope?: string; thread_id?: string }): Promise<() => void>;
};

export const startFeed = async (t: Test, change: (store: Store) => Partial<Store['events']> = () => ({})) => {
  const store = await storeFor(t);
  const errors: string[] = [];
  const feed = createEventFeed({
    store: { events: { ...store.events, ...change(store) } },
    log: { error: (_, text) => errors.push(text) },
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

/** The ids of the events that `append` makes. */
export const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `e${from + index}`);
