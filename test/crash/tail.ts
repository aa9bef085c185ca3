import { hasStandby } from '../cluster/mode.ts';
import type { Client } from './client.ts';
import type { Service } from './process.ts';

/**
 * A client that follows the events of a thread permanently, across every end of the service, from the cursor of the
 * last received event.
 */

export type Tail = {
  thread: string;
  /** Ids of the events in order of arrival. */
  seen: string[];
  /** Statuses other than 200. */
  refused: number[];
  cursor: string | undefined;
  leave(): void;
  left: Promise<void>;
};

export const followEvents = (client: Client, service: Service, thread: string): Tail => {
  const leaving = new AbortController();
  const tail: Tail = {
    thread,
    seen: [],
    refused: [],
    cursor: undefined,
    leave: () => leaving.abort(),
    left: Promise.resolve(),
  };
  const follow = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      await service.up();
      const query = tail.cursor === undefined ? '' : `?cursor=${encodeURIComponent(tail.cursor)}`;
      const { status } = await client.follow({
        method: 'GET',
        path: `/v1/threads/${thread}/events/stream${query}`,
        signal: leaving.signal,
        frame({ id, data }) {
          tail.cursor = id ?? tail.cursor;
          tail.seen.push(String(data.event_id));
          return true;
        },
      });
      // While no member of a cluster is active, the one that has the connection rejects requests.
      const isTakeover = hasStandby && status === 503;
      if (status !== undefined && status !== 200 && !isTakeover) tail.refused.push(status);
      if (status === undefined || status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  tail.left = follow();
  return tail;
};
