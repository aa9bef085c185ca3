import t from 'tap';
import type { Run } from '../../src/schema/run.ts';
import type { Store, TaskFilter, TaskPosition } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { run, SCOPE, write } from './records.ts';

/** Inserts one run after another, each at its given time. */
const insert = async (store: Store, runs: [id: string, at: number, fields?: Partial<Run>][]) => {
  await write(store, (batch) => {
    for (const [id, at, fields = {}] of runs) store.runs.put(batch, SCOPE, run(id, fields), undefined, at);
  });
};

const listed = (store: Store, filter: TaskFilter = {}, limit = 100): string[] =>
  store.tasks.list(SCOPE, filter, { limit }).places.map(({ id }) => id);

const walk = (store: Store, filter: TaskFilter, limit: number): string[] => {
  const seen: string[] = [];
  let after: TaskPosition | undefined;
  do {
    const page = store.tasks.list(SCOPE, filter, { limit, ...(after && { after }) });
    seen.push(...page.places.map(({ id }) => id));
    after = page.next;
  } while (after);
  return seen;
};

const DONE = (type: 'natural_end' | 'cancelled'): Partial<Run> => ({
  status: 'done',
  termination_reason: { type },
});

t.test('lists tasks by the time of their last change, then by id', async (t) => {
  const store = await storeFor(t);
  await insert(store, [
    ['old', 1000],
    ['b', 3000, DONE('natural_end')],
    ['a', 3000, { agent_id: 'other' }],
    ['c', 2000, { thread_id: 't2', status: 'created' }],
  ]);
  t.strictSame(listed(store), ['a', 'b', 'c', 'old']);
  t.strictSame(listed(store, { thread_id: 't1' }), ['a', 'b', 'old']);
  t.strictSame(listed(store, { agent_id: 'default' }), ['b', 'c', 'old']);
  t.strictSame(listed(store, { agent_id: 'default', thread_id: 't1' }), ['b', 'old']);
  t.strictSame(listed(store, { state: 'TASK_STATE_WORKING' }), ['a', 'old']);
  t.strictSame(listed(store, { since: 2000 }), ['a', 'b', 'c']);
  t.strictSame(listed(store, { agent_id: 'nobody' }), []);
  t.strictSame(store.tasks.list('elsewhere', {}, { limit: 10 }), { places: [], total: 0 });
});

t.test('shows each task once in a walk by positions with any filter, with exact totals', async (t) => {
  const store = await storeFor(t);
  const states = [{}, DONE('natural_end'), DONE('cancelled'), { status: 'created' as const }];
  await insert(
    store,
    Array.from({ length: 23 }, (_, i): [string, number, Partial<Run>] => [
      `r${i}`,
      1000 + Math.floor(i / 3),
      { ...states[i % 4], agent_id: `a${i % 3}`, thread_id: `t${i % 2}` },
    ]),
  );
  for (const filter of [
    {},
    { thread_id: 't1' },
    { agent_id: 'a1' },
    { state: 'TASK_STATE_COMPLETED' },
    { since: 1004 },
    { thread_id: 't0', agent_id: 'a2', since: 1001 },
    { agent_id: 'a1', state: 'TASK_STATE_WORKING', since: 1001 },
    { thread_id: 't1', state: 'TASK_STATE_COMPLETED' },
    { thread_id: 't1', state: 'TASK_STATE_SUBMITTED', agent_id: 'a0' },
  ] satisfies TaskFilter[]) {
    const all = listed(store, filter);
    t.strictSame(walk(store, filter, 2), all);
    t.equal(new Set(all).size, all.length);
    t.equal(store.tasks.list(SCOPE, filter, { limit: 1 }).total, all.length, JSON.stringify(filter));
  }
});

t.test('moves a task to the front on a change of its state, but not on a step', async (t) => {
  const store = await storeFor(t);
  await insert(store, [
    ['a', 1000],
    ['b', 2000],
  ]);
  await write(store, (batch) => store.runs.put(batch, SCOPE, run('a', { steps: 1 }), run('a'), 3000));
  t.strictSame(listed(store), ['b', 'a']);
  t.equal(store.runs.find(SCOPE, 'a')?.changed_at, 1000);
  const ended = run('a', DONE('natural_end'));
  await write(store, (batch) => store.runs.put(batch, SCOPE, ended, run('a', { steps: 1 }), 4000));
  t.strictSame(listed(store), ['a', 'b']);
  t.strictSame(listed(store, { state: 'TASK_STATE_WORKING' }), ['b']);
  t.equal(store.tasks.list(SCOPE, {}, { limit: 1 }).total, 2);
});

t.test('assigns increasing times to changes within one millisecond or batch', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    t.equal(store.runs.put(batch, SCOPE, run('a', { status: 'created' }), undefined, 1000), 1000);
    t.equal(store.runs.put(batch, SCOPE, run('a'), run('a', { status: 'created' }), 1000), 1001);
  });
  await write(store, (batch) => {
    t.equal(
      store.runs.put(batch, SCOPE, run('a', DONE('cancelled')), run('a'), 900),
      1002,
      'the clock was set back',
    );
  });
  t.strictSame(listed(store, { state: 'TASK_STATE_CANCELED' }), ['a']);
  t.strictSame(listed(store), ['a']);
});

t.test('keeps a task with its original agent', async (t) => {
  const store = await storeFor(t);
  const activation: Run['activation'] = {
    intent: { agent_id: 'first', thread_id: 't1', kind: { kind: 'new_intent' } },
    options: {},
    trace: { origin: 'user', adapter: 'a2a', run_mode: 'scheduled', session_id: 's' },
  };
  await insert(store, [['a', 1000, { agent_id: 'first', activation }]]);
  const taken = run('a', { agent_id: 'second', activation });
  await write(store, (batch) =>
    store.runs.put(batch, SCOPE, taken, run('a', { agent_id: 'first', activation })),
  );
  t.strictSame(listed(store, { agent_id: 'first' }), ['a']);
});

t.test('reads only the tasks that a page shows', async (t) => {
  const store = await storeFor(t);
  const insertMany = (from: number, count: number) =>
    insert(
      store,
      Array.from({ length: count }, (_, i): [string, number, Partial<Run>] => [
        `r${from + i}`,
        from + i,
        DONE('natural_end'),
      ]),
    );
  const cost = (filter: TaskFilter): number => {
    const before = store.reads;
    store.tasks.list(SCOPE, filter, { limit: 5 });
    return store.reads - before;
  };
  await insertMany(0, 10);
  const few = [cost({}), cost({ thread_id: 't1' }), cost({ since: 3 })];
  await insertMany(10, 300);
  t.strictSame([cost({}), cost({ thread_id: 't1' }), cost({ since: 3 })], few);

  const [before, inOther] = [cost({}), cost({ thread_id: 't2' })];
  await insert(
    store,
    Array.from({ length: 20 }, (_, i): [string, number] => [`running${i}`, 1000 + i]),
  );
  t.ok(cost({}) - before <= 20, 'a page reads a row for each running run');
  t.equal(cost({ thread_id: 't2' }), inOther, 'a page of another thread reads none of them');
});

t.test('reads as many rows for a page of all tasks with any number of agents and states', async (t) => {
  const store = await storeFor(t);
  const states = [
    { status: 'waiting' as const },
    DONE('natural_end'),
    DONE('cancelled'),
    { status: 'created' as const },
  ];
  const insertMany = (agents: number) =>
    insert(
      store,
      Array.from({ length: 4 * agents }, (_, i): [string, number, Partial<Run>] => [
        `${agents}-${i}`,
        agents + i,
        { ...states[i % 4], agent_id: `a${agents}-${i >> 2}` },
      ]),
    );
  const cost = (): number => {
    const before = store.reads;
    store.tasks.list(SCOPE, {}, { limit: 5 });
    return store.reads - before;
  };
  await insertMany(2);
  const few = cost();
  await insertMany(40);
  t.equal(cost(), few);
});
