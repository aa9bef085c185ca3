import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import type { Key } from './keys.ts';
import type { Order } from './order.ts';
import { checkPushPlace, type PushPlace, pushKey } from './push-configs.ts';

/**
 * What waits to be sent to the places of push configs (a2a.md 11.3), in the order in which it came, and how far each
 * config has followed its task.
 *
 * Guarantees: the first event of a config is read without reading those of others. A config is `followed` from the
 * moment it is stored until the last event of its task has left, so a restart reads those that have something to do
 * and no others. What was given up stands beside the queue until the config goes.
 */

/** The status that was queued last. */
export type PushMark = { state: string; timestamp: string };

export type PushEvent = {
  /** Grows; of this event only. */
  order: number;
  /** The JSON that is sent. */
  body: string;
  attempts: number;
  /** Not before; milliseconds. */
  available_at: number;
  last_error?: string | undefined;
};

export type PushFollowed = { place: PushPlace; mark: PushMark };

export type PushOutbox = {
  append(batch: Batch, place: PushPlace, event: Omit<PushEvent, 'order'>): void;
  first(place: PushPlace): PushEvent | undefined;
  count(place: PushPlace): number;
  /** Over what it was. */
  put(batch: Batch, place: PushPlace, event: PushEvent): void;
  remove(batch: Batch, place: PushPlace, order: number): void;
  /** Out of the queue, and kept. */
  bury(batch: Batch, place: PushPlace, event: PushEvent): void;
  buried(place: PushPlace): PushEvent[];
  follow(batch: Batch, followed: PushFollowed): void;
  unfollow(batch: Batch, place: PushPlace): void;
  markOf(place: PushPlace): PushMark | undefined;
  followed(): Iterable<PushFollowed>;
  /** Everything of a config. */
  clear(batch: Batch, place: PushPlace): void;
};

const QUEUE = 0;
const DEAD = 1;

export const createPushOutbox = (env: Environment, { order }: { order: Order }): PushOutbox => {
  const events = env.table<PushEvent>('push_outbox');
  const marks = env.table<PushFollowed>('push_followed');
  const queueOf = (place: PushPlace): Key => [...pushKey(place), QUEUE];

  const put = (batch: Batch, place: PushPlace, event: PushEvent): void =>
    events.put(batch, [...queueOf(place), event.order], event);

  const remove = (batch: Batch, place: PushPlace, at: number): void =>
    events.remove(batch, [...queueOf(place), at]);

  return {
    append(batch, place, event) {
      checkPushPlace(place);
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
      checkPushPlace(followed.place);
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
