import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { MessageFilter } from '../../src/runtime/ledger/history-ranks.ts';
import { listMessages, type MessageStart } from '../../src/runtime/ledger/history-view.ts';
import type { Message } from '../../src/schema/message.ts';
import type { RunStatus } from '../../src/schema/run.ts';
import type { EventScope, Page, Position, Store, ThreadFilter } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { dispatch, event, message, run, SCOPE, threadRecord, write } from './records.ts';

/**
 * A page reads only what it shows: a list call reads as many rows in a large store as in a small one. The small store
 * has enough pages for the compared ones to have neighbors on both sides, and both contain whole steps.
 */

const LIMIT = 10;
const SMALL = 160;
const LARGE = 1200;
/** Skipping eight times as many rows of two ranges takes three more bisections, with a read of each range. */
const SKIPPING = 6;

/** In turn a user message, a call, its result and an internal message; the first forty belong to a short run. */
const messageAt = (seq: number): Message => {
  const id = `m${seq}`;
  const run_id = seq <= 40 ? 'short' : 'long';
  const call = `call${Math.floor(seq / 4)}`;
  switch (seq % 4) {
    case 1:
      return { ...message(id, run_id), role: 'user' };
    case 2:
      return { ...message(id, run_id), tool_calls: [{ id: call, name: 'look', arguments: {} }] };
    case 3:
      return { ...message(id, run_id), role: 'tool', tool_call_id: call };
    default:
      return message(id, run_id, 'internal');
  }
};

/** This many threads, and this many runs, dispatches, messages and events in one thread. */
const filled = async (t: Test, dir: string, count: number): Promise<Store> => {
  const store = await storeFor(t, { dir: join(dir, String(count)) });
  await write(store, (batch) => {
    for (let n = 1; n <= count; n += 1) {
      const odd = n % 2 === 1;
      const links = { resource_id: 'shared', ...(odd && { parent_thread_id: 'p' }) };
      store.threads.put(batch, SCOPE, threadRecord(`t${n}`, n, links), undefined);
      store.runs.put(batch, SCOPE, run(`r${n}`, { status: odd ? 'done' : 'waiting' }), undefined);
      const kept = dispatch(`d${n}`, { status: odd ? 'Acked' : 'Queued' });
      store.dispatches.put(batch, SCOPE, kept, undefined);
      store.events.append(batch, SCOPE, 't1', n, [event(`e${n}`, odd ? 'long' : 'other')]);
      store.messages.append(batch, SCOPE, 't1', [
        { seq: n, message: messageAt(n), created_at: 1, external: n - Math.floor(n / 4) },
      ]);
    }
  });
  return store;
};

const smallAndLarge = async (t: Test): Promise<[small: Store, large: Store]> => {
  const dir = t.testdir();
  return [await filled(t, dir, SMALL), await filled(t, dir, LARGE)];
};

/** Lists something; `middle` is half of the number of rows. */
type List = (store: Store, middle: number) => readonly unknown[];

const compare = (what: string, lists: readonly (readonly [name: string, list: List])[]): void => {
  t.test(what, async (t) => {
    const [small, large] = await smallAndLarge(t);
    const measure = (store: Store, list: List, middle: number) => {
      const before = store.reads;
      const { length } = list(store, middle);
      return { shown: length, read: store.reads - before };
    };
    for (const [name, list] of lists) {
      const found = measure(small, list, SMALL / 2);
      t.equal(found.shown, LIMIT, `${name}: a full page`);
      const { shown, read } = measure(large, list, LARGE / 2);
      t.equal(shown, LIMIT, name);
      t.ok(read - found.read <= SKIPPING && read >= found.read, `${name}: ${read}, ${found.read}`);
    }
  });
};

const PAGES: readonly (readonly [name: string, pageOf: (middle: number) => Page])[] = [
  ['first page', () => ({ offset: 0, limit: LIMIT })],
  ['page in the middle by offset', (middle) => ({ offset: middle / 2, limit: LIMIT })],
];

const THREAD_FILTERS: readonly ThreadFilter[] = [
  {},
  { root: true },
  { parent: { scope: SCOPE, id: 'p' } },
  { resource_id: 'shared' },
  { resource_id: 'shared', root: true },
];

compare(
  'threads and their summaries',
  THREAD_FILTERS.flatMap((filter) =>
    PAGES.map(([name, pageOf]): [string, List] => [
      `${name} of ${JSON.stringify(filter)}`,
      (store, middle) => store.threads.list(SCOPE, filter, pageOf(middle)).items,
    ]),
  ),
);

type RunFilter = { thread_id?: string; status?: RunStatus };

const RUN_FILTERS: readonly RunFilter[] = [
  {},
  { status: 'waiting' },
  { thread_id: 't1' },
  { thread_id: 't1', status: 'done' },
];

compare(
  'runs',
  RUN_FILTERS.flatMap((filter) =>
    PAGES.map(([name, pageOf]): [string, List] => [
      `${name} of ${JSON.stringify(filter)}`,
      (store, middle) => store.runs.list(SCOPE, filter, pageOf(middle)).items,
    ]),
  ),
);

t.test('reads pages by position, in both directions', async (t) => {
  const [small, large] = await smallAndLarge(t);
  const positions = (store: Store, middle: number): (Position | undefined)[] => {
    const page = { offset: middle / 2, limit: LIMIT };
    const { next, prev } = store.threads.list(SCOPE, { root: true }, page);
    const runs = store.runs.list(SCOPE, { status: 'done' }, page);
    return [next, prev, runs.next, runs.prev];
  };
  const costs = (store: Store, middle: number): number[] =>
    positions(store, middle).map((after, index) => {
      if (!after) throw new Error('the page has no neighbour');
      const before = store.reads;
      const page = { offset: 0, limit: LIMIT, after };
      const { items } =
        index < 2
          ? store.threads.list(SCOPE, { root: true }, page)
          : store.runs.list(SCOPE, { status: 'done' }, page);
      t.equal(items.length, LIMIT);
      return store.reads - before;
    });
  t.strictSame(costs(large, LARGE / 2), costs(small, SMALL / 2));
});

const LOGS: readonly EventScope[] = [{ thread_id: 't1' }, { run_id: 'long' }];

compare(
  'the mailbox of a thread, and logs of events',
  LOGS.flatMap((by): [string, List][] => [
    [`first page of ${JSON.stringify(by)}`, (store) => store.events.list(SCOPE, by, 0, LIMIT).rows],
    [
      `page behind a cursor of ${JSON.stringify(by)}`,
      (store, middle) => store.events.list(SCOPE, by, middle, LIMIT).rows,
    ],
  ]).concat(
    PAGES.map(([name, pageOf]) => [
      `${name} of the mailbox`,
      (store, middle) => [...store.dispatches.listByThread(SCOPE, 't1', pageOf(middle))],
    ]),
  ),
);

const messages = (
  store: Store,
  filter: Partial<MessageFilter>,
  start: MessageStart = { offset: 0 },
): readonly unknown[] =>
  listMessages(
    { store, scope: SCOPE, thread_id: 't1' },
    { order: 'asc', visibility: 'external', ...filter },
    start,
    LIMIT,
  ).rows;

compare('messages of a thread', [
  ['first page', (store) => messages(store, {})],
  ['last page', (store) => messages(store, { order: 'desc' })],
  ['page behind a cursor', (store, middle) => messages(store, {}, { behind: middle })],
  ['page in front of a cursor', (store, middle) => messages(store, {}, { inFrontOf: middle })],
  ['newer than', (store, middle) => messages(store, { after: middle })],
  ['older than, the newest first', (store, middle) => messages(store, { before: middle, order: 'desc' })],
  ['internal', (store) => messages(store, { visibility: 'internal' })],
  ['all, behind a cursor', (store, middle) => messages(store, { visibility: 'all' }, { behind: middle })],
  // Offsets count what the view shows, so exactly the rows before the page are read.
  ['by offset', (store) => messages(store, {}, { offset: 20 })],
]);

compare('messages of a run', [
  ['first page', (store) => messages(store, { run_id: 'long' })],
  ['last page', (store) => messages(store, { run_id: 'long', order: 'desc' })],
  ['behind a cursor', (store, middle) => messages(store, { run_id: 'long' }, { behind: middle })],
  ['all', (store) => messages(store, { run_id: 'long', visibility: 'all' })],
  ['internal', (store) => messages(store, { run_id: 'long', visibility: 'internal' })],
  ['newer than', (store, middle) => messages(store, { run_id: 'long', after: middle })],
]);
