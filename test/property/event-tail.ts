import type { EventFeed } from '../../src/events/feed.ts';
import { START } from '../../src/events/wire.ts';
import { createReader, type TestReader } from '../events/reader.ts';

/** A client that follows the event log of a thread from its start, and continues at its position after a restart. */

export type Tail = {
  /** Ids of the received events. */
  seen(): string[];
  stall(): void;
  drain(): void;
  follow(feed: EventFeed): void;
};

export const createTail = (first: EventFeed, scope: string, thread_id: string): Tail => {
  let before: string[] = [];
  let cursor = START;
  let reader: TestReader;

  const read = (): string[] => reader.seen();

  const follow = (feed: EventFeed): void => {
    reader = createReader();
    feed.follow(scope, { thread_id }, cursor, reader);
  };

  reader = createReader();
  follow(first);

  return {
    seen: () => [...before, ...read()],
    stall() {
      reader.stalled = true;
    },
    drain: () => reader.drain(),
    follow(feed) {
      const last = reader.frames().at(-1);
      if (last !== undefined) cursor = last.slice('id: '.length, last.indexOf('\n'));
      before = [...before, ...read()];
      follow(feed);
    },
  };
};
