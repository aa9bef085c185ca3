import { join } from 'node:path';
import t from 'tap';
import type { Message } from '../../src/schema/message.ts';
import type { PendingMessage } from '../../src/schema/pending.ts';
import { openRoot } from '../../src/store/engine/environment.ts';
import { examine, openStore, type Store } from '../../src/store/index.ts';
import { FORMAT, type Format } from '../../src/store/repair/format.ts';
import type { SlicedMigration } from '../../src/store/repair/migrate.ts';
import { openStoreOfFormat } from '../../src/store/store.ts';
import { dispatch, message, run, SCOPE, threadRecord, write } from './records.ts';
import { changeRuns, storedStates, toVersion4 } from './version-4.ts';

/** Data directories of earlier versions, which are migrated when they are opened. */

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

/** Replaces the rows of lists with those of version 1. */
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

t.test('converts the lists of version 1 to the same lists in the new form', async (t) => {
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

const COUNT = 2500;

const TICKET = {
  ticket_id: 'k',
  tool_call_id: 'k',
  tool_name: 'tool',
  resume_mode: 'replay_tool_call',
  updated_at: 0,
} as const;

/** A decision arrived while the wait was being written. */
const DECIDED = run('decided', {
  status: 'waiting',
  dispatch_id: 'd2',
  machine_state: 'waiting.forDecision',
  waiting: { reason: 'tool_permission', tickets: [TICKET] },
  activation: {
    intent: { thread_id: 't1', kind: { kind: 'new_intent' } },
    options: {},
    trace: { origin: 'user', adapter: 'internal', run_mode: 'foreground', session_id: 's' },
    seeded_decisions: [['k', { decision_id: 'd', action: 'resume', result: null, updated_at: 0 }]],
  },
});

const ASKS: Message = {
  ...message('m1', 'acting'),
  tool_calls: [{ id: 'c', name: 'tool', arguments: {} }],
  metadata: { run_id: 'acting', step_index: 0 },
};

/** Fills a directory of version 4, whose runs have no states. */
const fillVersion4 = async (dir: string): Promise<void> => {
  const store = await openStore({ dir, durability: 'process' });
  await write(store, (batch) => {
    store.threads.put(batch, SCOPE, threadRecord('t1', 1), undefined);
    for (let index = 0; index < COUNT; index += 1)
      store.runs.put(batch, SCOPE, run(`r${index}`, { status: 'done' }), undefined, 1000);
    store.runs.put(batch, SCOPE, DECIDED, undefined, 1000);
    store.runs.put(batch, SCOPE, run('acting'), undefined, 1000);
    store.dispatches.put(batch, SCOPE, dispatch('d1', { run_id: 'acting' }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('d2', { run_id: 'decided', status: 'Claimed' }), undefined);
    store.messages.append(batch, SCOPE, 't1', [{ seq: 1, message: ASKS, created_at: 1, external: 1 }]);
  });
  await store.close();
  await toVersion4(dir);
};

const EXPECTED = {
  ...Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`r${index}`, 'completed'])),
  decided: 'waiting.answered',
  acting: 'running.acting',
};

t.test('adds the states of runs to a directory of version 4', async (t) => {
  const dir = t.testdir();
  await fillVersion4(dir);
  t.strictSame((await examine({ dir })).findings, [], 'a directory of an older format is intact');
  const store = await openStore({ dir, durability: 'process' });
  t.strictSame(
    store.tasks.list(SCOPE, { state: 'TASK_STATE_SUBMITTED' }, { limit: 9 }).places.map(({ id }) => id),
    ['decided'],
  );
  t.equal(store.tasks.list(SCOPE, { state: 'TASK_STATE_AUTH_REQUIRED' }, { limit: 9 }).total, 0);
  await store.close();
  t.strictSame(await storedStates(dir), EXPECTED);
  t.strictSame((await examine({ dir })).findings, []);
});

/** The current format, whose migration of a version fails in the slice after this number of slices. */
const failingAfter = (slices: number, version = 4): Format => {
  const migration = FORMAT.migrations[version];
  if (typeof migration !== 'object') throw new Error('the migration is not sliced');
  let written = 0;
  const open: SlicedMigration['open'] = (root) => {
    const migrate = migration.open(root);
    return (after) => {
      if (written === slices) throw new Error('interrupted');
      written += 1;
      return migrate(after);
    };
  };
  return { ...FORMAT, migrations: { ...FORMAT.migrations, [version]: { open } } };
};

for (const slices of [0, 1, 2, 3]) {
  t.test(`continues an upgrade that was interrupted after ${slices} slices`, async (t) => {
    const dir = t.testdir();
    const options = { dir, durability: 'process' } as const;
    await fillVersion4(dir);
    await t.rejects(openStoreOfFormat(options, failingAfter(slices)), { message: 'interrupted' });
    const states = Object.values(await storedStates(dir));
    t.equal(states.filter((state) => state !== undefined).length, Math.min(slices * 1000, COUNT + 2));
    t.strictSame((await examine({ dir })).findings, [], 'half of an upgrade is not damage');
    const older = openStoreOfFormat(options, { ...FORMAT, version: 4 });
    if (slices > 0) await t.rejects(older, { message: /has format 7, this version supports up to 4/ });
    else await (await older).close();
    await (await openStore(options)).close();
    t.strictSame(await storedStates(dir), EXPECTED);
    t.strictSame((await examine({ dir })).findings, []);
  });
}

/** Lists of version 6: of running runs too, with counters. */
const withRunListsOfVersion6 = async (dir: string): Promise<void> => {
  const root = openRoot(dir);
  const put = async (name: string, rows: [key: (string | number)[], value: unknown][]): Promise<void> => {
    const table = root.openDB<unknown, (string | number)[]>(name, {});
    for (const [key, value] of rows) await table.put(key, value);
  };
  const [at, id] = [-1000, 'acting'];
  await put('task_index', [
    [[SCOPE, 'all', at, id], true],
    [[SCOPE, 'agent', '=default', 'TASK_STATE_WORKING', at, id], true],
    [
      [SCOPE, 'thread', 't1', at, id],
      ['=default', 'TASK_STATE_WORKING'],
    ],
  ]);
  await put('counters', [
    ...Array.from({ length: COUNT }, (_, index): [(string | number)[], unknown] => [
      [SCOPE, 'thread', `t${index}`, 'done'],
      1,
    ]),
    [[SCOPE, 'runs', 'running'], 1],
    [[SCOPE, 'tasks', 'all'], COUNT + 2],
    [[SCOPE, 'tasks', '=default', 'TASK_STATE_COMPLETED'], COUNT],
  ]);
  await root.openDB<unknown, string[]>('meta', {}).put(['format'], 6);
  await root.close();
};

for (const slices of [0, 1, 3, 4, 5, 9]) {
  t.test(`rebuilds the lists of version 6 after an interruption after ${slices} slices`, async (t) => {
    const dir = t.testdir();
    const options = { dir, durability: 'process' } as const;
    await fillVersion4(dir);
    const first = await openStore(options);
    const lists = listsOf(first);
    await first.close();
    await withRunListsOfVersion6(dir);
    const failing = openStoreOfFormat(options, failingAfter(slices, 6));
    if (slices < 9) await t.rejects(failing, { message: 'interrupted' });
    else await (await failing).close();
    t.strictSame((await examine({ dir })).findings, [], 'half of an upgrade is not damage');
    const second = await openStore(options);
    t.strictSame(listsOf(second), lists);
    await second.close();
    t.strictSame((await examine({ dir })).findings, []);
  });
}

t.test('bounds the bytes of a slice', async (t) => {
  const dir = t.testdir();
  const options = { dir, durability: 'process' } as const;
  const store = await openStore(options);
  await write(store, (batch) => {
    store.threads.put(batch, SCOPE, threadRecord('t1', 1), undefined);
    for (let index = 0; index < 20; index += 1) {
      const final_output = `${index} ${'x'.repeat(2 ** 20)}`;
      store.runs.put(batch, SCOPE, run(`r${index}`, { status: 'done', final_output }), undefined, 1000);
    }
  });
  await store.close();
  await toVersion4(dir);
  await t.rejects(openStoreOfFormat(options, failingAfter(1)), { message: 'interrupted' });
  const states = Object.values(await storedStates(dir));
  t.equal(states.filter((state) => state !== undefined).length, 8, 'of 20 runs of one megabyte each');
});

t.test('leaves a row that does not decode as it is', async (t) => {
  const dir = t.testdir();
  await fillVersion4(dir);
  const root = openRoot(dir);
  await root
    .openDB<Buffer, string[]>('runs', { encoding: 'binary' })
    .put([SCOPE, 'r7'], Buffer.from([0xc1, 0xc1]));
  await root.close();
  await (await openStore({ dir, durability: 'process' })).close();
  const { findings } = await examine({ dir });
  t.match(findings, [{ table: 'runs', problem: /does not decode/ }]);
  t.equal(findings.length, 1, 'no list contains it');
});

const INPUT: PendingMessage = {
  pending_id: 'p1',
  thread_id: 't1',
  position: 1,
  message: { id: 'p1', role: 'user', content: [{ type: 'text', text: 'input' }] },
  revision: 1,
  delivery_mode: { boundary: 'next_step', granularity: 'batch', target_run_id: 'asks' },
  created_at: 0,
  updated_at: 0,
};

/** Fills a directory with runs whose states depend on rows of other tables. */
const fillDependent = async (dir: string): Promise<void> => {
  const store = await openStore({ dir, durability: 'process' });
  await write(store, (batch) => {
    store.threads.put(batch, SCOPE, threadRecord('t1', 1), undefined);
    for (const [run_id, dispatch_id, fields] of [
      ['acting', 'd1', {}],
      ['asks', 'd2', { status: 'waiting', waiting: { reason: 'user_input' } }],
      ['lost', 'd3', { status: 'waiting', waiting: { reason: 'user_input' } }],
    ] as const) {
      store.runs.put(batch, SCOPE, run(run_id, { ...fields, dispatch_id }), undefined);
      store.dispatches.put(batch, SCOPE, dispatch(dispatch_id, { run_id, status: 'Claimed' }), undefined);
    }
    store.messages.append(batch, SCOPE, 't1', [{ seq: 1, message: ASKS, created_at: 1, external: 1 }]);
    store.pending.put(batch, SCOPE, INPUT);
  });
  await store.close();
};

/** Cuts a row of each of these tables off. */
const truncateRows = async (dir: string): Promise<void> => {
  const root = openRoot(dir);
  for (const [table, id] of [
    ['messages', 't1'],
    ['pending', 't1'],
    ['dispatches', 'd3'],
  ] as const) {
    const rows = root.openDB<Buffer, (string | number)[]>(table, { encoding: 'binary' });
    for (const { key, value } of Array.from(rows.getRange({ start: [SCOPE, id], limit: 1 })))
      await rows.put(key, Buffer.from(value.subarray(0, value.length / 2)));
  }
  await root.close();
};

const STATES = { acting: 'running.acting', asks: 'waiting.answered', lost: 'waiting.forInput' };
const STATES_OF_DAMAGED = { ...STATES, acting: 'running.inferring', asks: 'waiting.forInput' };

t.test('derives states from rows of other tables, and without those that do not decode', async (t) => {
  for (const [isDamaged, states] of [
    [false, STATES],
    [true, STATES_OF_DAMAGED],
  ] as const) {
    const dir = t.testdir();
    await fillDependent(dir);
    await toVersion4(dir);
    if (isDamaged) await truncateRows(dir);
    await (await openStore({ dir, durability: 'process' })).close();
    t.strictSame(await storedStates(dir), states);
    const undecodable = (await examine({ dir })).findings.filter(({ problem }) =>
      problem.includes('does not decode'),
    );
    t.strictSame(
      undecodable.map(({ table }) => table).toSorted(),
      isDamaged ? ['dispatches', 'messages', 'pending'] : [],
    );
  }
});

t.test('repairs states although rows of other tables do not decode', async (t) => {
  const folder = t.testdir();
  const [dir, backup] = [join(folder, 'data'), join(folder, 'backup')];
  await fillDependent(dir);
  await changeRuns(dir, ({ run: { machine_state: _missing, ...rest }, ...row }) => ({ ...row, run: rest }));
  await truncateRows(dir);
  const { findings } = await examine({ dir, repair: { backup } });
  t.match(
    findings.find(({ problem }) => problem.includes('state')),
    { count: 3, repaired: true },
  );
  t.strictSame(await storedStates(dir), STATES_OF_DAMAGED);
});

t.test('removes a run whose wake was queued from the list of runs that wait for tasks', async (t) => {
  const dir = t.testdir();
  const store = await openStore({ dir, durability: 'process' });
  const trace = { origin: 'user', adapter: 'internal', run_mode: 'internal_wake' } as const;
  const woken = { intent: { thread_id: 't1', kind: { kind: 'new_intent' } }, options: {}, trace } as const;
  await write(store, (batch) => {
    store.threads.put(batch, SCOPE, threadRecord('t1', 1), undefined);
    for (const [run_id, activation] of [
      ['waits', { ...woken, trace: { ...trace, session_id: 's' } }],
      ['woken', woken],
    ] as const) {
      const fields = { status: 'waiting', waiting: { reason: 'background_tasks' }, activation } as const;
      store.runs.put(batch, SCOPE, run(run_id, fields), undefined);
      store.awaiting.put(batch, { scope: SCOPE, thread_id: 't1', run_id });
    }
  });
  await store.close();
  await toVersion4(dir);
  const upgraded = await openStore({ dir, durability: 'process' });
  t.match(upgraded.awaiting.all(undefined, 9), [{ run_id: 'waits' }]);
  t.equal(upgraded.awaiting.all(undefined, 9).length, 1);
  await upgraded.close();
  t.strictSame(await storedStates(dir), { waits: 'waiting.forTasks', woken: 'waiting.notified' });
});

for (const version of [4, 5]) {
  t.test(`lists a task once whose row in version ${version} has no time of its last change`, async (t) => {
    const dir = t.testdir();
    const first = await openStore({ dir, durability: 'process' });
    const created = run('r1', { status: 'created' });
    await write(first, (batch) => {
      first.threads.put(batch, SCOPE, threadRecord('t1', 1), undefined);
      first.runs.put(batch, SCOPE, created, undefined);
    });
    await first.close();
    await changeRuns(dir, ({ changed_at: _missing, ...row }) => row);
    if (version === 4) await toVersion4(dir);
    const second = await openStore({ dir, durability: 'process' });
    const changed_at = created.updated_at * 1000;
    t.equal(second.runs.find(SCOPE, 'r1')?.changed_at, changed_at);
    const ended = run('r1', { status: 'done', updated_at: created.updated_at + 1 });
    await write(second, (batch) => second.runs.put(batch, SCOPE, ended, created));
    t.match(second.tasks.list(SCOPE, {}, { limit: 9 }), { places: [{ scope: SCOPE, id: 'r1' }], total: 1 });
    await second.close();
    t.strictSame((await examine({ dir })).findings, []);
  });
}
