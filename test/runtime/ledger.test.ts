import t from 'tap';
import { createIds } from '../../src/composition/ids.ts';
import { NOTHING_KEPT } from '../../src/loop/state.ts';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { createObserver } from '../../src/observability/observer.ts';
import { listMessages } from '../../src/runtime/index.ts';
import { commit } from '../../src/runtime/ledger/commit.ts';
import { createLedger } from '../../src/runtime/ledger/ledger.ts';
import {
  appendMessages,
  changeThread,
  createThread,
  openWrite,
  persistState,
  putRun,
  removeThread,
} from '../../src/runtime/ledger/transaction.ts';
import type { Message } from '../../src/schema/message.ts';
import { Unavailable } from '../../src/schema/outcome.ts';
import { inState } from '../../src/schema/run-state.ts';
import { numberOfRoot } from '../../src/store/engine/lineage.ts';
import type { Store } from '../../src/store/index.ts';
import { turn } from '../http/serve.ts';
import { storeFor } from '../store/open.ts';
import { message, run, SCOPE, threadRecord } from '../store/records.ts';
import { unwritable } from '../store/unwritable.ts';

/** The rows of one thread, and their single writer. */

const THREAD = 't1';

const nothing = (): void => {};

const ledgerOn = (store: Store, onFailure = (_error: unknown): void => {}) =>
  createLedger(
    {
      store,
      clock: { now: () => 1 },
      ids: createIds(),
      events: undefined,
      runs: undefined,
      traces: undefined,
      legs: undefined,
      observe: createObserver({ metrics: createMetrics(), stats: undefined }),
      onStarting: nothing,
      onStored: nothing,
      onRunDone: nothing,
      onRunWritten: nothing,
      onFailure,
      onQuiet: nothing,
      onListenerError: nothing,
    },
    SCOPE,
    THREAD,
  );

const created = async (store: Store) => {
  const ledger = ledgerOn(store);
  const write = openWrite(ledger, 1);
  createThread(write, threadRecord(THREAD, 1).thread);
  await commit(write, 'input');
  return ledger;
};

t.test('keeps the lineage of the thread below which the runtime makes a thread', async (t) => {
  const store = await storeFor(t);
  const ledger = ledgerOn(store);
  const write = openWrite(ledger, 1);
  createThread(write, threadRecord(THREAD, 1, { parent_thread_id: 'above' }).thread, 'above');
  await commit(write, 'input');
  const change = openWrite(ledger, 2);
  changeThread(change, (thread) => ({ ...thread, resource_id: 'house' }));
  await commit(change, 'input');
  t.match(store.threads.get(SCOPE, THREAD), {
    thread: { resource_id: 'house' },
    lineage: String(numberOfRoot(SCOPE, 'above')),
  });
  t.equal(store.threads.lineageOf(SCOPE, THREAD), numberOfRoot(SCOPE, 'above'));
  t.equal(store.threads.lineageOf(SCOPE, 'above'), numberOfRoot(SCOPE, 'above'));
});

t.test('rejects writes after a failed commit even if the store works again', async (t) => {
  const store = await storeFor(t);
  let isFull = true;
  const failures: unknown[] = [];
  const failing: Store['commit'] = (batch, kind) => store.commit(isFull ? unwritable(batch) : batch, kind);
  const ledger = ledgerOn({ ...store, commit: failing }, (error) => failures.push(error));
  const lost = openWrite(ledger, 1);
  createThread(lost, threadRecord(THREAD, 1).thread);
  await t.rejects(commit(lost, 'input'), Unavailable);
  isFull = false;

  t.throws(() => openWrite(ledger, 2), {
    name: 'Unavailable',
    message: `thread 't1': a commit failed; try again`,
  });
  t.equal(ledger.broken, true);
  t.equal(failures.length, 1);
  t.equal(store.threads.get(SCOPE, THREAD), undefined);
  await turn();
  const next = await created(store);
  t.equal(next.record?.thread.id, THREAD, 'a new ledger of the thread starts from the stored state');
});

const asked = (id: string, call: string): Message => ({
  ...message(id, 'r1'),
  tool_calls: [{ id: call, name: 'tool', arguments: {} }],
});

const told = (id: string, call: string, fields: Partial<Message> = {}): Message => ({
  ...message(id, 'r1'),
  role: 'tool',
  tool_call_id: call,
  ...fields,
});

const FILTER = { order: 'asc', visibility: 'external' } as const;

const shown = (store: Store): string[] =>
  listMessages({ store, scope: SCOPE, thread_id: THREAD }, FILTER, { offset: 0 }, 10).rows.map(
    ({ id }) => id,
  );

t.test('does not apply retractions of a deleted thread to a new one with its id', async (t) => {
  const store = await storeFor(t);
  const ledger = await created(store);
  const said = openWrite(ledger, 2);
  appendMessages(
    said,
    [asked('m1', 'c'), told('m2', 'c'), told('m3', 'c', { visibility: 'internal' }), message('m4', 'r1')],
    'r1',
  );
  await commit(said, 'progress');
  t.strictSame(shown(store), ['m1', 'm4'], 'the result and the marker are retracted');

  const gone = openWrite(ledger, 3);
  removeThread(gone);
  await commit(gone, 'input');
  t.strictSame(store.retractions.range(SCOPE, THREAD, 1, 10), [], 'no retraction is left');
  const again = await created(store);
  const write = openWrite(again, 4);
  appendMessages(write, [message('n1', 'r2'), message('n2', 'r2'), message('n3', 'r2')], 'r2');
  await commit(write, 'progress');
  t.strictSame(shown(store), ['n1', 'n2', 'n3']);
});

t.test('does not grow the state of a thread with its runs', async (t) => {
  const store = await storeFor(t);
  const ledger = await created(store);
  const before = run('r1', { status: 'running' });
  const begun = openWrite(ledger, 2);
  putRun(begun, before, undefined);
  persistState(begun, 'r1', { ...NOTHING_KEPT, thread: { seen: 1 }, runHidden: { secret: 1 } });
  await commit(begun, 'progress');
  t.match(store.state.get(SCOPE, THREAD), { thread: { seen: 1 }, runs: { r1: { secret: 1 } } });

  const ended = openWrite(ledger, 3);
  putRun(ended, { ...before, ...inState('completed') }, before);
  await commit(ended, 'progress');
  t.strictSame(store.state.get(SCOPE, THREAD), { thread: { seen: 1 }, threadHidden: {}, runs: {} });
});
