import t from 'tap';
import { openRoot } from '../../src/store/environment.ts';
import { examine, openStore, type Store } from '../../src/store/index.ts';
import { dispatch, run, SCOPE, threadRecord, write } from './records.ts';

/** Folders of earlier versions, which are brought up to date when they are opened. */

const fill = async (store: Store): Promise<void> => {
  await write(store, (batch) => {
    store.threads.put(batch, SCOPE, threadRecord('t1', 1), undefined);
    store.threads.put(batch, SCOPE, threadRecord('t2', 2, { parent_thread_id: 't1' }), undefined);
    for (const [index, status] of (['done', 'waiting', 'done', 'running'] as const).entries())
      store.runs.put(batch, SCOPE, run(`r${index}`, { status }), undefined, 1000 + index);
    store.dispatches.put(batch, SCOPE, dispatch('d1', { priority: 9 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('d2'), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('d3', { status: 'Acked', completed_at: 7 }), undefined);
  });
};

const PAGE = { offset: 0, limit: 10 };

const listsOf = (store: Store) => ({
  threads: store.threads.list(SCOPE, {}, PAGE),
  roots: store.threads.list(SCOPE, { root: true }, PAGE),
  children: store.threads.children(SCOPE, 't1'),
  runs: store.runs.list(SCOPE, {}, PAGE),
  done: store.runs.list(SCOPE, { thread_id: 't1', status: 'done' }, PAGE),
  counts: [store.runs.count(SCOPE, 'waiting'), store.runs.count(SCOPE, 'done')],
  tasks: store.tasks.list(SCOPE, {}, { limit: 10 }),
  mailbox: [...store.dispatches.listByThread(SCOPE, 't1', PAGE)],
  queued: store.dispatches.queued(SCOPE, 't1'),
  open: store.dispatches.open(undefined, 10),
  ended: store.dispatches.ended(100, 10),
});

/** Rows of lists as version 1 had them, in place of those that are there. */
const withListsOfVersion1 = async (dir: string): Promise<void> => {
  const root = openRoot(dir);
  const rows: Record<string, [key: (string | number)[], value: unknown][]> = {
    thread_index: [
      [[SCOPE, 'all', -2, 't2'], 't2'],
      [[SCOPE, 'all', -1, 't1'], 't1'],
      [[SCOPE, 'parent', 't1', -2, 't2'], 't2'],
      [[SCOPE, 'root', -1, 't1'], 't1'],
    ],
    run_index: [
      [[SCOPE, 'runs', 'all', 1], 'r0'],
      [[SCOPE, 'runs', 'done', 1], 'r0'],
    ],
    task_index: [[[SCOPE, 'thread', 't1', '=default', 'TASK_STATE_WORKING', -1003, 'r3'], true]],
    dispatch_index: [[[SCOPE, 'open', 't1', 9, 1765000400000, 5], 'd1']],
    open_work: [[['dispatch', SCOPE, 'd1'], { scope: SCOPE, id: 'd1', order: 5 }]],
    ended_work: [],
    counters: [[[SCOPE, 'all'], 2]],
  };
  for (const [name, found] of Object.entries(rows)) {
    const table = root.openDB<unknown, (string | number)[]>(name, {});
    await table.clearAsync();
    for (const [key, value] of found) await table.put(key, value);
  }
  await root.openDB<unknown, string[]>('meta', {}).put(['format'], 1);
  await root.close();
};

t.test('a folder with the lists of version 1 has the same lists in the new form', async (t) => {
  const dir = t.testdir();
  const first = await openStore({ dir, durability: 'process' });
  await fill(first);
  const lists = listsOf(first);
  await first.close();
  await withListsOfVersion1(dir);
  const second = await openStore({ dir, durability: 'process' });
  t.strictSame(listsOf(second), lists);
  await write(second, (batch) =>
    second.dispatches.put(batch, SCOPE, dispatch('d2', { status: 'Acked' }), dispatch('d2')),
  );
  t.equal(second.dispatches.queued(SCOPE, 't1').length, 1);
  await second.close();
  t.strictSame((await examine({ dir })).findings, []);
  const third = await openStore({ dir, durability: 'process' });
  t.equal(third.runs.list(SCOPE, {}, PAGE).total, 4);
  await third.close();
});
