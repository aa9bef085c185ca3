import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { partitionOf } from '../../src/schema/partition.ts';
import type { StoredResponse } from '../../src/schema/stored-response.ts';
import { longUidOf } from '../../src/schema/thread-uid.ts';
import { numberOfRoot } from '../../src/store/engine/lineage.ts';
import { examine, openStore, type Store } from '../../src/store/index.ts';
import { threadFileId } from '../../src/store/tables/files.ts';
import { eventsIn, type StoredEvents } from '../../src/store/tables/stored-events.ts';
import { roundsOf } from '../long.ts';
import { startChild } from './child.ts';
import { dump as dumpShown, type Dump as Rows } from './dump.ts';
import { dispatch, event, message, run, threadRecord, write } from './records.ts';
import * as moving from './transferred-thread.ts';

/** The rows of a thread before and after a change of its owner (identity.md 1.3, check 48). */

const SCOPE = 'acme';
const ALICE = partitionOf({ scope: SCOPE, user: 'alice' });
const BOB = partitionOf({ scope: SCOPE, user: 'bob' });

/** The tables that have rows of threads. */
const OF_THREADS = [
  'threads',
  'thread_index',
  'thread_expiries',
  'responses',
  'files',
  'thread_files',
  'blobs',
  'messages',
  'message_by_run',
  'retractions',
  'stopped_answers',
  'past_states',
  'pending',
  'tickets',
  'runs',
  'run_index',
  'task_index',
  'dispatches',
  'dispatch_index',
  'open_work',
  'ended_work',
  'deadlines',
  'awaiting_tasks',
  'driven_runs',
  'state',
  'events',
  'event_by_run',
  'push_configs',
  'push_outbox',
  'push_followed',
  'counters',
];

/** Rows that a sender of messages or the owner of a chat has for a thread; they do not move with it. */
const OF_SENDERS = ['received_messages', 'received_message_times', 'transcripts'];

/** The tables whose rows name no partition, so that nothing in them moves. */
const OTHERS = [
  'access_events',
  'access_index',
  'admin_addresses',
  'agent_drafts',
  'audit',
  'audit_index',
  'authorizations',
  'blob_parts',
  'config',
  'config_unpublished',
  'connections',
  'counters_spent',
  'credentials',
  'dataset_fixture_ids',
  'dataset_fixtures',
  'datasets',
  'documents',
  'eval_run_index',
  'eval_run_items',
  'eval_run_work',
  'eval_runs',
  'file_ends',
  'file_index',
  'idempotency',
  'idempotency_times',
  'key_ends',
  'key_uses',
  'keys',
  'mcp_catalogs',
  'meta',
  'probes',
  'publications',
  'removed_threads',
  'resource_versions',
  'runtime_stats',
  'scope_keys',
  'session_ends',
  'session_uses',
  'sessions',
  'store_keys',
  'structures',
  'trace_events',
  'trace_index',
  'trace_references',
  'traces',
  'usage',
  'user_folds',
  'user_identities',
  'user_keys',
  'user_seen',
  'user_sessions',
  'users',
];

const CREATED = 1_765_000_400_000;

/** An id that the service made stays. */
const MADE_HERE = '0193f0aa-0000-7000-8000-000000000001';

const dump = (dir: string): Promise<Rows> => dumpShown(dir, plain);

/** Repeated texts of events are stored once, and the bodies of sealed rows differ at every write. */
const plain = (table: string, value: unknown): unknown => {
  // Only the table of events has rows of this type.
  if (table === 'events') return { ...(value as object), packed: eventsIn(value as StoredEvents) };
  return withoutBody(value);
};

const withoutBody = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'body' in value && 'head' in value
    ? { head: value.head }
    : value;

const hook = (task_id: string) => ({ scope: ALICE, task_id, id: 'hook' });

const CONTENT = Buffer.from('image');
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
const FILE = threadFileId({ scope: ALICE, thread_id: 'thread1', sha256: SHA256 });
/** The same content has another id in the other thread. */
const MOVED_FILE = threadFileId({ scope: BOB, thread_id: longUidOf('alice', 'thread1'), sha256: SHA256 });

const response = (run_id: string): StoredResponse => ({
  run_id,
  thread_id: 'thread1',
  leg: 1,
  status: 'completed',
  created_at: CREATED,
  from_seq: 0,
  echo: { model: 'a' },
  inputs: [],
  items: [],
  events: [],
  next: 0,
  reserved: 1000,
  calls: 0,
});

const named = (id: string, run_id?: string) => ({ ...event(id, run_id), thread_id: 'thread1' });

/** Rows of every table of a thread, and of one below it. Both have ids that clients chose. */
const fill = (store: Store, { visibility }: { visibility: 'private' | 'read' }): Promise<void> => {
  const owned = { owner: 'alice', visibility } as const;
  const metadata = { created_at: CREATED, updated_at: CREATED + 5 };
  const uid = longUidOf('alice', 'thread1');
  const links = {
    ...owned,
    uid,
    resource_id: 'room',
    expires_at: CREATED + 99,
    latest_run_id: 'job',
    open_run_id: 'job',
    metadata,
  };
  const below = { ...owned, uid: longUidOf('alice', 'thread2'), parent_thread_id: 'thread1', metadata };
  const trace = { origin: 'user', adapter: 'internal', run_mode: 'foreground' } as const;
  const job = run('job', {
    thread_id: 'thread1',
    owner: 'alice',
    status: 'waiting',
    waiting: { reason: 'user_input' },
    dispatch_id: 'job',
  });
  const past = run('past', {
    thread_id: 'thread1',
    owner: 'alice',
    status: 'done',
    final_output: 'A text that is held by its run. '.repeat(3),
  });
  const child = run('child', {
    owner: 'alice',
    thread_id: 'thread2',
    parent_run_id: 'job',
    activation: {
      intent: { thread_id: 'thread2', kind: { kind: 'continuation_from_run', run_id: 'child' } },
      options: {},
      trace: { ...trace, parent_run_id: 'job', parent_thread_id: 'thread1', root_run_id: 'job' },
    },
  });
  const said = message('m1', 'past');
  const answer = { ...said, content: [{ type: 'text' as const, text: past.final_output ?? '' }] };
  const mode = { boundary: 'new_run', granularity: 'batch', target_run_id: 'job' } as const;
  return write(store, (batch) => {
    store.threads.put(batch, ALICE, threadRecord('thread1', 1, links), undefined);
    store.threads.put(batch, ALICE, threadRecord('thread2', 1, below), undefined);
    const isShared = visibility !== 'private';
    for (const each of [job, past, child]) store.runs.put(batch, ALICE, each, undefined, CREATED, isShared);
    store.messages.append(batch, ALICE, 'thread1', [
      { seq: 1, message: answer, created_at: 1, external: 1 },
      { seq: 2, message: message('m3', 'job', 'internal'), created_at: 1, external: 1 },
    ]);
    store.retractions.put(batch, ALICE, 'thread1', { seq: 1, external: true, run_id: 'past' });
    const stopped = { seq: 1, run_id: 'past', message: message('m2', 'past'), created_at: 1 };
    store.stopped.put(batch, ALICE, 'thread1', stopped);
    store.pastStates.put(batch, ALICE, 'thread1', 1, { thread: { text: 'job' }, threadHidden: {} });
    store.state.put(batch, ALICE, 'thread1', { thread: { n: 1 }, threadHidden: {}, runs: { job: { n: 2 } } });
    const times = { revision: 1, created_at: 1, updated_at: 1 };
    const pending = { pending_id: 'p1', thread_id: 'thread1', position: 1, message: message('p1') };
    store.pending.put(batch, ALICE, { ...pending, ...times, delivery_mode: mode });
    store.tickets.put(batch, ALICE, 'thread1', { ticket_id: 'k1', call_id: 'c1', ofCall: 1 });
    const ended = {
      run_id: 'past',
      thread_id: 'thread1',
      status: 'Acked',
      completed_at: CREATED + 3,
    } as const;
    store.dispatches.put(batch, ALICE, dispatch('job', { run_id: 'job', thread_id: 'thread1' }), undefined);
    store.dispatches.put(batch, ALICE, dispatch(MADE_HERE, ended), undefined);
    store.events.append(batch, ALICE, 'thread1', 1, [
      { ...named('e1', 'job'), created_at: CREATED, payload: { thread_id: 'thread1', text: 'thread1' } },
      { ...named('e2'), created_at: CREATED, correlation_id: 'thread1' },
      { ...named('e3', 'past'), created_at: CREATED, payload: { response: past.final_output } },
    ]);
    const listed = { scope: ALICE, thread_id: 'thread1', run_id: 'job' };
    store.deadlines.put(batch, { at: CREATED + 9, ...listed });
    store.awaiting.put(batch, listed);
    store.driven.put(batch, { scope: ALICE, thread_id: 'thread2', run_id: 'child' });
    store.pushConfigs.put(batch, { ...hook('job'), url: 'https://hooks.example/', token: 'secret' });
    store.pushOutbox.append(batch, hook('job'), { body: '{}', attempts: 1, available_at: 1 });
    store.pushOutbox.follow(batch, { place: hook('job'), mark: { state: 's', timestamp: 't' } });
    store.responses.add(batch, ALICE, response('job'));
    batch.blobs.set(SHA256, CONTENT);
    store.files.keepInThread(batch, {
      scope: ALICE,
      thread_id: 'thread1',
      sha256: SHA256,
      bytes: CONTENT.byteLength,
      filename: 'a.png',
      media_type: 'image/png',
      created_at: CREATED,
    });
    const answered = { thread_id: 'thread1', seq: 1, asked: 'digest', at: CREATED };
    store.transcripts.put(batch, { scope: ALICE, chat: 'room', agent_id: 'a', digest: 'd' }, answered);
    store.received.put(batch, ALICE, 'print', { task_id: 'job', message_id: 'm', accepted_at: CREATED });
  });
};

/** Rows that stay: another thread of Alice, a shared one of Carol, and what a deleted thread `thread1` has left. */
const fillOthers = (store: Store): Promise<void> =>
  write(store, (batch) => {
    const old = run('old', {
      thread_id: 'thread1',
      owner: 'alice',
      status: 'done',
      created_at: 1,
      updated_at: 1,
    });
    store.runs.put(batch, ALICE, old, undefined, 1000);
    store.dispatches.put(
      batch,
      ALICE,
      dispatch('old', {
        thread_id: 'thread1',
        run_id: 'old',
        status: 'Acked',
        created_at: 1,
        completed_at: 2,
      }),
      undefined,
    );
    const mine = { owner: 'alice', visibility: 'private' } as const;
    store.threads.put(batch, ALICE, threadRecord('mine', 2, mine), undefined);
    const carol = partitionOf({ scope: SCOPE, user: 'carol' });
    const shared = { owner: 'carol', visibility: 'read' } as const;
    store.threads.put(batch, carol, threadRecord('thread1', 3, shared), undefined);
  });

const transfer = async (store: Store, to = BOB, threads: readonly string[] = ['thread1', 'thread2']) => {
  const plan = store.transfers.plan({ from: ALICE, to, threads, at: CREATED + 10 });
  const batch = store.batch('commons');
  await store.transfers.add(batch, plan);
  return { plan, commit: () => store.commit(batch, 'input') };
};

const open = (dir: string): Promise<Store> => openStore({ dir, durability: 'process' });

/** The expected text of a row: texts that are no ids stay. */
const renamedIn = (text: string): string =>
  text
    .replaceAll(ALICE, BOB)
    .replaceAll(FILE, MOVED_FILE)
    .replaceAll('"owner":"alice"', '"owner":"bob"')
    .replace(
      /(?<!"(?:text|id)":)"(thread1|thread2|job|past|child)"/g,
      (_, id: string) => `"${longUidOf('alice', id)}"`,
    );

const every = (rows: Rows, name: string): string[] => rows.get(name) ?? [];

for (const visibility of ['private', 'read'] as const) {
  t.test(`moves every row of a thread that is ${visibility}, and of those below (check 48)`, async (t) => {
    const dir = t.testdir();
    const filled = await open(dir);
    await fill(filled, { visibility });
    await fillOthers(filled);
    await filled.close();
    const before = await dump(dir);
    const store = await open(dir);
    const { plan, commit } = await transfer(store);
    await commit();
    const [id, child] = ['thread1', 'thread2'].map((each) => longUidOf('alice', each));
    t.same(Object.fromEntries(plan.names.threads), { thread1: id, thread2: child });
    await checkReadable(t, store, String(id));
    await store.close();
    const after = await dump(dir);
    checkTables(t, before, after);
    t.strictSame((await examine({ dir })).findings, [], 'troupe doctor has no findings');
  });
}

/** Every table is known to this test, so that a new one is either moved or named here. */
const checkTables = (t: Test, before: Rows, after: Rows): void => {
  const known = [...OF_THREADS, ...OF_SENDERS, ...OTHERS];
  t.strictSame(
    [...after.keys()].filter((name) => !known.includes(name)),
    [],
    'a new table: move its rows with their thread (store/transferred-rows.ts), or list it above',
  );
  for (const name of OF_THREADS) {
    const had = every(before, name).filter((row) =>
      ['thread1', 'job', 'child', FILE].some((name) => row.includes(name)),
    );
    if (name !== 'counters' && name !== 'ended_work') t.ok(had.length > 0, `${name} has rows of the thread`);
  }
  for (const name of OF_SENDERS) t.strictSame(every(after, name), [], `${name} has no row of the sender`);
  for (const name of OTHERS)
    if (!['meta', 'structures'].includes(name)) t.strictSame(every(after, name), every(before, name), name);
  const isLeft = /"(mine|old)"|~acme~carol/;
  const kept = (rows: Rows, name: string) => every(rows, name).filter((row) => isLeft.test(row));
  const moved = (rows: Rows, name: string) => every(rows, name).filter((row) => !isLeft.test(row));
  for (const name of OF_THREADS.filter((each) => each !== 'counters')) {
    t.strictSame(kept(after, name), kept(before, name), `${name} keeps the rows of others`);
    const names = moved(after, name).filter((row) => row.includes(ALICE));
    t.strictSame(names, [], `${name} has no row at the former place`);
    if (name === 'threads' || name === 'thread_index') continue;
    const expected = moved(before, name).map(renamedIn);
    t.strictSame(moved(after, name).toSorted(), expected.toSorted(), `${name} row for row`);
  }
};

const checkReadable = async (t: Test, store: Store, id: string): Promise<void> => {
  t.match(store.threads.get(BOB, id)?.thread, {
    id,
    uid: id,
    owner: 'bob',
    latest_run_id: longUidOf('alice', 'job'),
    metadata: { created_at: CREATED, updated_at: CREATED + 10 },
  });
  t.equal(store.threads.get(ALICE, 'thread1'), undefined);
  t.strictSame(store.threads.children(BOB, id), [longUidOf('alice', 'thread2')]);
  for (const each of [id, longUidOf('alice', 'thread2')])
    t.equal(
      store.threads.lineageOf(BOB, each),
      numberOfRoot(ALICE, 'thread1'),
      'one lineage, that of the first',
    );
  const past = store.runs.get(BOB, longUidOf('alice', 'past'));
  t.match(past?.final_output, /held by its run/);
  const [first] = store.messages.range(BOB, id, {});
  t.match(first?.message.content, [{ text: past?.final_output }]);
  const { rows } = store.events.list(BOB, { thread_id: id }, 0, 10);
  t.strictSame(
    rows.map(({ seq }) => seq),
    [1, 2, 3],
  );
  t.match(rows[0]?.event.payload, { thread_id: id, text: 'thread1' }, 'only ids are renamed');
  const task_id = longUidOf('alice', 'job');
  t.match(store.pushConfigs.get({ scope: BOB, task_id, id: 'hook' }), { token: 'secret' });
  t.strictSame(store.runs.get(ALICE, 'old')?.run_id, 'old', 'a run of a deleted thread with this id stays');
};

t.test('gives a thread another id if the new owner has one with its uid (check 48)', async (t) => {
  const store = await open(t.testdir());
  t.teardown(() => store.close());
  await fill(store, { visibility: 'private' });
  const uid = longUidOf('alice', 'thread1');
  await write(store, (batch) =>
    store.threads.put(batch, BOB, threadRecord(uid, 1, { owner: 'bob' }), undefined),
  );
  const { plan, commit } = await transfer(store);
  await commit();
  const id = plan.names.threads.get('thread1') ?? '';
  t.match(id, /^thread1~[\w-]{22}$/);
  t.not(id, uid);
  t.match(store.threads.get(BOB, id)?.thread, { id, uid: id });
  t.equal(store.threads.get(BOB, uid)?.thread.id, uid, 'the other thread is unchanged');
});

t.test('gives a thread a shorter id if its uid is too long for one', async (t) => {
  const store = await open(t.testdir());
  t.teardown(() => store.close());
  const long = 'x'.repeat(512);
  await write(store, (batch) => {
    const links = { owner: 'alice', uid: longUidOf('alice', long) };
    store.threads.put(batch, ALICE, threadRecord(long, 1, links), undefined);
  });
  const { plan, commit } = await transfer(store, BOB, [long]);
  await commit();
  const id = plan.names.threads.get(long) ?? '';
  t.match(id, /^x{100}~[\w-]{22}$/);
  t.match(store.threads.get(BOB, id)?.thread, { id, uid: id });
});

t.test('leaves everything with the former owner until the commit', async (t) => {
  const dir = t.testdir();
  const filled = await open(dir);
  await fill(filled, { visibility: 'private' });
  await filled.close();
  const before = await dump(dir);
  const store = await open(dir);
  await transfer(store);
  await store.close();
  const after = await dump(dir);
  for (const name of OF_THREADS) t.strictSame(every(after, name), every(before, name), name);
});

t.test(`leaves a thread wholly with one owner after kills during transfers`, async (t) => {
  const dir = t.testdir();
  const rounds = roundsOf(15);
  const seen = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const child = startChild(t, 'child-transfer.ts', [dir]);
    // Later rounds are killed at other moments: while rows are read, before and while they are written, and after.
    for (let lines = round % 5; lines >= 0; lines -= 1) await child.line();
    await new Promise((resolve) => setTimeout(resolve, (round * 7) % 23));
    child.kill();
    await child.exit;
    const store = await open(dir);
    const owners = [moving.ALICE, moving.BOB].filter((each) => store.threads.get(each, moving.ROOT));
    t.equal(owners.length, 1, `round ${round}: one owner has the thread`);
    const [owner = ''] = owners;
    seen.add(owner);
    for (const id of [moving.ROOT, moving.CHILD]) {
      t.ok(store.threads.get(owner, id), 'the thread below is with it');
      t.equal([...store.messages.range(owner, id, {})].length, moving.MESSAGES);
      t.equal(store.events.last(owner, id), moving.MESSAGES);
      t.equal(store.runs.ofThread(owner, id).length, moving.MESSAGES / 10);
    }
    await store.close();
    const other = owner === moving.ALICE ? moving.BOB : moving.ALICE;
    const left = [...(await dump(dir)).values()].flat().filter((row) => row.includes(other));
    t.strictSame(left, [], 'no row is left with the other one');
    t.strictSame((await examine({ dir })).findings, [], 'troupe doctor has no findings');
  }
  t.equal(seen.size, 2, 'both owners had the thread');
});
