import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import type { Order } from '../engine/order.ts';
import { checkPushConfigKey, type PushConfigKey, pushKey } from './push-configs.ts';

/**
 * Queued events of push configs (a2a.md 11.3), in the order of their arrival, and the followed position of each config
 * in its task.
 *
 * Guarantees: the first event of a config is read without reading those of others. A config is `followed` from the
 * moment it is stored until the last event of its task has been sent, so that a restart reads only configs with
 * remaining work. Failed events are kept outside the queue until the config is removed.
 */

/** The last queued status. */
export type PushMark = { state: string; timestamp: string };

export type PushEvent = {
  /** Increases with every event, and is unique. */
  order: number;
  /** The JSON text to send. */
  body: string;
  attempts: number;
  /** Earliest time of the next attempt, in milliseconds. */
  available_at: number;
  last_error?: string | undefined;
};

export type PushFollowed = { place: PushConfigKey; mark: PushMark };

export type PushOutbox = {
  append(batch: Batch, place: PushConfigKey, event: Omit<PushEvent, 'order'>): void;
  first(place: PushConfigKey): PushEvent | undefined;
  count(place: PushConfigKey): number;
  /** Replaces the stored event. */
  put(batch: Batch, place: PushConfigKey, event: PushEvent): void;
  remove(batch: Batch, place: PushConfigKey, order: number): void;
  /** Moves a permanently failed event out of the queue, and keeps it. */
  bury(batch: Batch, place: PushConfigKey, event: PushEvent): void;
  buried(place: PushConfigKey): PushEvent[];
  follow(batch: Batch, followed: PushFollowed): void;
  unfollow(batch: Batch, place: PushConfigKey): void;
  markOf(place: PushConfigKey): PushMark | undefined;
  followed(): Iterable<PushFollowed>;
  /** Removes all rows of a config. */
  clear(batch: Batch, place: PushConfigKey): void;
};

const QUEUE = 0;
const DEAD = 1;

export const createPushOutbox = (env: Environment, { order }: { order: Order }): PushOutbox => {
  const events = env.table<PushEvent>('push_outbox');
  const marks = env.table<PushFollowed>('push_followed');
  const queueOf = (place: PushConfigKey): Key => [...pushKey(place), QUEUE];

  const put = (batch: Batch, place: PushConfigKey, event: PushEvent): void =>
    events.put(batch, [...queueOf(place), event.order], event);

  const remove = (batch: Batch, place: PushConfigKey, at: number): void =>
    events.remove(batch, [...queueOf(place), at]);

  return {
    append(batch, place, event) {
      checkPushConfigKey(place);
      put(batch, place, { ...event, order: order.next() });
    },
    first(place) {
      for (const event of events.values({ prefix: queueOf(place), limit: 1 })) return event;
      return undefined;
    },
    count: (place) => Array.from(events.keys({ prefix: queueOf(place) })).length,
    put,
    remove,
    bury(batch, place, event) {
      remove(batch, place, event.order);
      events.put(batch, [...pushKey(place), DEAD, event.order], event);
    },
    buried: (place) => Array.from(events.values({ prefix: [...pushKey(place), DEAD] })),
    follow(batch, followed) {
      checkPushConfigKey(followed.place);
      marks.put(batch, pushKey(followed.place), followed);
    },
    unfollow: (batch, place) => marks.remove(batch, pushKey(place)),
    markOf: (place) => marks.get(pushKey(place))?.mark,
    followed: () => marks.values({ prefix: [] }),
    clear(batch, place) {
      events.clear(batch, pushKey(place));
      marks.remove(batch, pushKey(place));
    },
  };
};
