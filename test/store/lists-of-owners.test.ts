import assert from 'node:assert/strict';
import t, { type Test } from 'tap';
import { ownedIn, partitionOf, sharedIn } from '../../src/schema/partition.ts';
import type { Lists } from '../../src/schema/place.ts';
import { inState, RUN_STATES, type RunRecord, type RunState } from '../../src/schema/run-state.ts';
import { taskAgentOf, taskStateOf } from '../../src/schema/task-state.ts';
import {
  examine,
  openStore,
  type RunFilter,
  type RunPage,
  type Store,
  type TaskFilter,
  type TaskPosition,
} from '../../src/store/index.ts';
import fc from '../random.ts';
import { run, SCOPE, write } from './records.ts';

/** Lists of the runs of users, and of a whole scope, compared with one array of all runs. */

const ALICE = partitionOf({ scope: SCOPE, user: 'alice' });
const BOB = partitionOf({ scope: SCOPE, user: 'bob' });
const PARTITIONS = [SCOPE, ALICE, BOB];

/** A run and its position in the order of creation. */
type Known = { partition: string; record: RunRecord; at: number; shared: boolean; order: number };

/** Puts the run with this number, or removes it. Numbers with the same id belong to different owners. */
type Step = { run: number; state: RunState | 'removed'; agent: number; shared: boolean; later: number };

const STEP = fc.record({
  run: fc.nat(11),
  state: fc.constantFrom(...RUN_STATES, 'removed' as const),
  agent: fc.nat(1),
  shared: fc.boolean(),
  later: fc.nat(2),
});

const play = async (store: Store, steps: readonly Step[]): Promise<Known[]> => {
  const runs = new Map<number, Known>();
  let now = 1000;
  for (const [order, { run: number, state, agent, shared, later }] of steps.entries()) {
    const before = runs.get(number);
    const partition = PARTITIONS[number % PARTITIONS.length] ?? SCOPE;
    now += later;
    await write(store, (batch) => {
      if (state === 'removed') {
        if (before) store.runs.remove(batch, partition, before.record);
        runs.delete(number);
        return;
      }
      const place = { thread_id: `t${number % 2}`, agent_id: `a${agent}` };
      const record = run(`r${Math.floor(number / 3)}`, { ...place, ...inState(state) });
      const at = store.runs.put(batch, partition, record, before?.record, now, shared);
      runs.set(number, { partition, record, at, shared, order: before?.order ?? order });
    });
  }
  return Array.from(runs.values());
};

/** The lists of a reader, and whether it may read a run. */
const READERS: [lists: Lists, sees: (known: Known) => boolean][] = [
  [SCOPE, ({ partition }) => partition === SCOPE],
  [[SCOPE, ownedIn(SCOPE)], () => true],
  [[ALICE, sharedIn(SCOPE)], ({ partition, shared }) => partition === ALICE || shared],
  [[BOB, sharedIn(SCOPE)], ({ partition, shared }) => partition === BOB || shared],
];

const nameOf = ({ partition, record }: Known): string => `${partition} ${record.run_id}`;

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** A run that only the list of the reader has precedes those with its time and id in lists of several users. */
const byChange =
  (lists: Lists) =>
  (a: Known, b: Known): number => {
    const own = typeof lists === 'string' ? lists : lists[0];
    const isJoint = ({ partition, shared }: Known): boolean =>
      partition !== own || (shared && partition !== SCOPE);
    return (
      b.at - a.at ||
      compare(a.record.run_id, b.record.run_id) ||
      Number(isJoint(a)) - Number(isJoint(b)) ||
      compare(a.partition, b.partition)
    );
  };

const TASK_FILTERS: TaskFilter[] = [
  {},
  { agent_id: 'a1' },
  { state: 'TASK_STATE_WORKING' },
  { state: 'TASK_STATE_COMPLETED' },
  { agent_id: 'a0', state: 'TASK_STATE_SUBMITTED' },
  { since: 1005 },
  { agent_id: 'a1', state: 'TASK_STATE_WORKING', since: 1003 },
];

const isTask = ({ record, at }: Known, { thread_id, agent_id, state, since }: TaskFilter): boolean =>
  (thread_id === undefined || record.thread_id === thread_id) &&
  (agent_id === undefined || taskAgentOf(record) === agent_id) &&
  (state === undefined || taskStateOf(record) === state) &&
  (since === undefined || at >= since);

const checkTasks = (store: Store, lists: Lists, filter: TaskFilter, known: readonly Known[]): void => {
  const expected = known.filter((each) => isTask(each, filter)).sort(byChange(lists));
  const names: string[] = [];
  let after: TaskPosition | undefined;
  do {
    const page = store.tasks.list(lists, filter, { limit: 2, ...(after && { after }) });
    assert.equal(page.total, expected.length, JSON.stringify([lists, filter]));
    names.push(...page.places.map(({ scope, id }) => `${scope} ${id}`));
    after = page.next;
  } while (after);
  assert.deepEqual(names, expected.map(nameOf), JSON.stringify([lists, filter]));
};

const STATUSES = ['created', 'running', 'waiting', 'done'] as const;
const RUN_FILTERS: RunFilter[] = [{}, ...STATUSES.map((status) => ({ status })), { agent_id: 'a1' }];

const ORDERS = {
  created: () => (a: Known, b: Known) => a.order - b.order,
  '-created': () => (a: Known, b: Known) => b.order - a.order,
  '-changed': byChange,
};

const isRun = ({ record }: Known, { thread_id, status, agent_id }: RunFilter): boolean =>
  (thread_id === undefined || record.thread_id === thread_id) &&
  (status === undefined || record.status === status) &&
  (agent_id === undefined || taskAgentOf(record) === agent_id);

const checkRuns = (store: Store, lists: Lists, filter: RunFilter, known: readonly Known[]): void => {
  for (const sort of ['created', '-created', '-changed'] as const) {
    const expected = known.filter((each) => isRun(each, filter)).sort(ORDERS[sort](lists));
    const of = JSON.stringify([lists, filter, sort]);
    const found: RunRecord[] = [];
    let page: RunPage | undefined = { offset: 0, limit: 3, sort };
    while (page) {
      const { items, total, searched, next }: ReturnType<Store['runs']['list']> = store.runs.list(
        lists,
        filter,
        page,
      );
      // The total of a search is that of the examined list.
      if (searched === undefined) assert.equal(total, expected.length, of);
      found.push(...items);
      page = next && { offset: 0, limit: 3, sort, after: next };
    }
    assert.deepEqual(
      found,
      expected.map(({ record }) => record),
      of,
    );
  }
};

const check = (store: Store, known: readonly Known[]): void => {
  for (const [lists, sees] of READERS) {
    const seen = known.filter(sees);
    for (const filter of TASK_FILTERS) checkTasks(store, lists, filter, seen);
    for (const filter of RUN_FILTERS) checkRuns(store, lists, filter, seen);
  }
  for (const partition of PARTITIONS) {
    const own = known.filter((each) => each.partition === partition);
    for (const filter of TASK_FILTERS) checkTasks(store, partition, { ...filter, thread_id: 't1' }, own);
    for (const filter of RUN_FILTERS) checkRuns(store, partition, { ...filter, thread_id: 't0' }, own);
  }
  for (const status of STATUSES) {
    const counts = [SCOPE, ownedIn(SCOPE)].map((list) => store.runs.count(list, status));
    const expected = known.filter(({ record }) => record.status === status).length;
    assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), expected, `runs with status ${status}`);
  }
};

const CASES = 25;

t.test('lists the runs of users in every order, with exact totals', async (t: Test) => {
  const folder = t.testdir();
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 60 }), async (steps) => {
      number += 1;
      const dir = `${folder}/${number}`;
      const store = await openStore({ dir, durability: 'process' });
      try {
        check(store, await play(store, steps));
      } finally {
        await store.close();
      }
      if (number % 8 === 0) assert.deepEqual((await examine({ dir })).findings, []);
    }),
    { numRuns: CASES },
  );
  t.pass(`${CASES} sequences of changes`);
});
