import { z } from 'zod';
import { CanonicalEvent } from '../../src/schema/canonical-event.ts';
import { Dispatch } from '../../src/schema/dispatch.ts';
import { type ListedMessage, MessageList } from '../../src/schema/message.ts';
import { type Run, RunList, type RunStatus } from '../../src/schema/run.ts';
import { Thread, ThreadList } from '../../src/schema/thread.ts';
import { type Client, everyRow } from './client.ts';
import { ADMIN } from './process.ts';

/** The data that an idle service returns, read through all pages. */

const EventPage = z.object({ items: z.array(CanonicalEvent), next_cursor: z.string().nullable() });

const Mailbox = z.object({ items: z.array(Dispatch) });

const LIMIT = 200;

export const runsOf = (client: Client, { status, from = 0 }: { status?: string; from?: number } = {}) =>
  everyRow(async (offset) => {
    const query = `limit=${LIMIT}&offset=${offset}${status === undefined ? '' : `&status=${status}`}`;
    const { items, has_more } = await client.read(`/v1/runs?${query}`, RunList);
    return { rows: items, more: has_more };
  }, from);

export const totalOf = async (client: Client, status: RunStatus): Promise<number> =>
  (await client.read(`/v1/runs?limit=1&status=${status}`, RunList)).total;

export const threadsOf = async (client: Client): Promise<{ ids: string[]; total: number }> => {
  let total = 0;
  const ids = await everyRow(async (offset) => {
    const list = await client.read(`/v1/threads?limit=${LIMIT}&offset=${offset}`, ThreadList);
    total = list.total;
    return { rows: list.items, more: list.has_more };
  });
  return { ids, total };
};

export type ThreadRecord = {
  id: string;
  /** Undefined: the thread does not exist, or no longer. */
  thread: Thread | undefined;
  messages: ListedMessage[];
  events: CanonicalEvent[];
  runs: Run[];
  dispatches: Dispatch[];
};

export const eventsOf = async (client: Client, log: string, after?: string): Promise<CanonicalEvent[]> => {
  const items: CanonicalEvent[] = [];
  for (let cursor = after; ; ) {
    const from = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await client.read(`${log}/events?limit=${LIMIT}${from}`, EventPage);
    items.push(...page.items);
    if (page.next_cursor === null) return items;
    cursor = page.next_cursor;
  }
};

export const readThread = async (client: Client, id: string): Promise<ThreadRecord> => {
  const path = `/v1/threads/${encodeURIComponent(id)}`;
  const answer = await client.ask('GET', path, undefined, ADMIN);
  const thread = answer?.status === 200 ? Thread.parse(answer.body) : undefined;
  const messages = thread
    ? await everyRow(async (offset) => {
        const page = await client.read(
          `${path}/messages?limit=${LIMIT}&visibility=all&order=asc&offset=${offset}`,
          MessageList,
        );
        return { rows: page.messages, more: page.has_more };
      })
    : [];
  const runs = await everyRow(async (offset) => {
    const page = await client.read(`${path}/runs?limit=${LIMIT}&offset=${offset}`, RunList);
    return { rows: page.items, more: page.has_more };
  });
  const dispatches = await everyRow(async (offset) => {
    const { items } = await client.read(`${path}/mailbox?limit=${LIMIT}&offset=${offset}`, Mailbox);
    return { rows: items, more: items.length === LIMIT };
  });
  return { id, thread, messages, events: await eventsOf(client, path), runs, dispatches };
};
