import t, { type Test } from 'tap';
import { outcomeOf, RUN_OUTCOMES, RUN_SORTS } from '../../src/schema/run-query.ts';
import type { RunRecord } from '../../src/schema/run-state.ts';
import { MOST_EXAMINED, type Page, type RunFilter, type RunPage, type Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { run, SCOPE, write } from './records.ts';

/** Lists of runs by every filter and in every order, compared with one array of all runs. */

const ENDS = [
  { type: 'natural_end' },
  { type: 'behavior_requested' },
  { type: 'stopped', value: { code: 'max_rounds' } },
  { type: 'cancelled' },
  { type: 'blocked', value: 'a gate' },
  { type: 'error', value: 'no model' },
] as const;

const START = 1_765_000_000;

const pad = (n: number): string => String(n).padStart(6, '0');

/** Every seventh run is open; the others end in each way. */
const runAt = (n: number): RunRecord => {
  const created_at = START + n * 10;
  const end = ENDS[n % ENDS.length];
  const isOpen = n % 7 === 0;
  return run(`r${pad(n)}`, {
    thread_id: `t${n % 3}`,
    agent_id: n % 5 === 0 ? 'rare' : 'usual',
    created_at,
    started_at: created_at,
    updated_at: created_at,
    input_tokens: (n * 31) % 97,
    output_tokens: n % 11,
    ...(n % 4 !== 0 && { cost_usd: ((n * 17) % 89) / 100 }),
    ...(isOpen
      ? { status: n % 2 === 0 ? 'waiting' : 'running' }
      : { status: 'done', finished_at: created_at + ((n * 13) % 53) }),
    ...(!isOpen && end && { termination_reason: end }),
  });
};

const filled = async (t: Test, count: number): Promise<{ store: Store; runs: RunRecord[] }> => {
  const store = await storeFor(t);
  const runs = Array.from({ length: count }, (_, n) => runAt(n));
  await write(store, (batch) => {
    for (const each of runs) store.runs.put(batch, SCOPE, each, undefined, each.updated_at * 1000);
  });
  return { store, runs };
};

type Walk = { ids: string[]; pages: number; searched: number | undefined; total: number };

const walk = (store: Store, filter: RunFilter, page: Omit<RunPage, 'offset'>): Walk => {
  const found: Walk = { ids: [], pages: 0, searched: undefined, total: 0 };
  let next: Page['after'] | undefined = { key: null, offset: 0 };
  while (next) {
    const at: ReturnType<Store['runs']['list']> = store.runs.list(SCOPE, filter, {
      ...page,
      offset: 0,
      after: next,
    });
    found.ids.push(...at.items.map(({ run_id }) => run_id));
    found.pages += 1;
    found.searched = at.searched;
    found.total = at.total;
    next = at.next;
  }
  return found;
};

const matching = (runs: readonly RunRecord[], filter: RunFilter): RunRecord[] =>
  runs.filter((each) => {
    const outcome = outcomeOf(each);
    return (
      (filter.thread_id === undefined || each.thread_id === filter.thread_id) &&
      (filter.status === undefined || each.status === filter.status) &&
      (filter.agent_id === undefined || each.agent_id === filter.agent_id) &&
      (filter.outcomes === undefined || (outcome !== undefined && filter.outcomes.includes(outcome))) &&
      (filter.created_after === undefined || each.created_at >= filter.created_after) &&
      (filter.created_before === undefined || each.created_at < filter.created_before)
    );
  });

const NOW = (START + 100_000) * 1000;

const figureOf: Record<string, (each: RunRecord) => number> = {
  created: ({ created_at }) => -created_at,
  '-created': ({ created_at }) => created_at,
  '-changed': ({ updated_at }) => updated_at,
  '-duration': ({ started_at = 0, finished_at = NOW / 1000 }) => finished_at - started_at,
  '-tokens': ({ input_tokens, output_tokens }) => input_tokens + output_tokens,
  '-cost': ({ cost_usd = -1 }) => cost_usd,
};

const FILTERS: RunFilter[] = [
  {},
  { status: 'waiting' },
  { status: 'done' },
  ...RUN_OUTCOMES.map((outcome) => ({ outcomes: [outcome] })),
  { outcomes: ['failed', 'blocked'] },
  { outcomes: ['completed', 'stopped'] },
  { status: 'running', outcomes: ['failed'] },
  { agent_id: 'rare' },
  { agent_id: 'nobody' },
  { agent_id: 'rare', outcomes: ['failed'], thread_id: 't1' },
  { thread_id: 't2' },
  { thread_id: 't2', status: 'done' },
  { created_after: START + 300 },
  { created_before: START + 300 },
  { created_after: START + 305, created_before: START + 905, thread_id: 't0' },
  { created_after: START + 300, outcomes: ['failed'], agent_id: 'usual' },
  { created_after: START + 99_999 },
];

t.test('lists the runs of every filter in every order, page by page', async (t) => {
  const { store, runs } = await filled(t, 150);
  for (const filter of FILTERS) {
    const expected = matching(runs, filter);
    for (const sort of RUN_SORTS) {
      const what = `${sort} ${JSON.stringify(filter)}`;
      const { ids } = walk(store, filter, { limit: 7, sort, now: NOW });
      t.strictSame(
        [...ids].sort(),
        expected.map(({ run_id }) => run_id),
        what,
      );
      const figures = ids.map((id) => figureOf[sort]?.(runs[Number(id.slice(1))] ?? runAt(0)) ?? 0);
      t.strictSame(
        figures,
        [...figures].sort((a, b) => b - a),
        `${what} is in order`,
      );
    }
  }
});

t.test('returns the page before a page in both directions', async (t) => {
  const { store } = await filled(t, 30);
  for (const sort of ['created', '-created'] as const) {
    const all = walk(store, {}, { limit: 100, sort }).ids;
    const page = store.runs.list(SCOPE, {}, { offset: 12, limit: 5, sort });
    t.strictSame(
      page.items.map(({ run_id }) => run_id),
      all.slice(12, 17),
    );
    const before = page.prev && store.runs.list(SCOPE, {}, { offset: 0, limit: 5, sort, after: page.prev });
    t.strictSame(
      before?.items.map(({ run_id }) => run_id),
      all.slice(7, 12),
      sort,
    );
  }
});

t.test('reads the rows that it shows among 12,000 runs where an index selects them', async (t) => {
  const { store, runs } = await filled(t, 12_000);
  const measure = (filter: RunFilter, sort: RunPage['sort']) => {
    const before = store.reads;
    const page = store.runs.list(SCOPE, filter, { offset: 0, limit: 50, ...(sort && { sort }) });
    return { reads: store.reads - before, page };
  };
  const indexed: [RunFilter, RunPage['sort']][] = [
    [{}, '-created'],
    [{ status: 'waiting' }, '-created'],
    [{ outcomes: ['failed'] }, '-changed'],
    [{ outcomes: ['failed', 'blocked'], agent_id: 'rare' }, '-changed'],
    [{ agent_id: 'rare' }, '-changed'],
    [{ created_after: START + 50_000, created_before: START + 60_000 }, '-created'],
    [{ created_after: START + 50_000, created_before: START + 60_000 }, 'created'],
  ];
  const running = matching(runs, { status: 'running' }).length;
  for (const [filter, sort] of indexed) {
    const { reads, page } = measure(filter, sort);
    t.equal(page.items.length, 50);
    // Running runs are sorted by the time of their change when they are read.
    const sorted = sort === '-changed' && filter.outcomes === undefined ? running : 0;
    t.ok(reads < 600 + sorted, `${sort} ${JSON.stringify(filter)}: ${reads} reads`);
  }
  const failed = measure({ outcomes: ['failed'] }, '-changed').page;
  t.equal(failed.total, matching(runs, { outcomes: ['failed'] }).length, 'an index also counts');
  t.equal(failed.searched, undefined);
});

t.test('examines a limited number of runs per page, and continues', async (t) => {
  const { store } = await filled(t, 12_000);
  const text = (wanted: string) => ({
    matches: ({ run_id }: RunRecord) => run_id === wanted,
    isSpent: () => false,
  });
  const before = store.reads;
  const first = store.runs.list(SCOPE, {}, { offset: 0, limit: 50, sort: '-created', text: text('r000003') });
  t.ok(store.reads - before < 2 * MOST_EXAMINED + 50, `${store.reads - before} reads`);
  t.match(first, { items: [], total: 12_000, searched: MOST_EXAMINED });
  t.ok(first.next, 'an empty page has a next one');
  const { ids, pages, searched } = walk(store, {}, { limit: 50, sort: '-created', text: text('r000003') });
  t.strictSame([ids, pages, searched], [['r000003'], 12, 12_000]);

  const spent = store.runs.list(
    SCOPE,
    {},
    { offset: 0, limit: 50, text: { matches: () => true, isSpent: () => true } },
  );
  t.equal(spent.items.length, 1, 'a page ends when its cost is spent, after one row');
  t.ok(spent.next);

  const ranked = store.runs.list(SCOPE, {}, { offset: 0, limit: 50, sort: '-cost' });
  t.match(ranked, { total: 12_000, searched: MOST_EXAMINED });
  t.equal(walk(store, {}, { limit: 200, sort: '-cost' }).ids.length, MOST_EXAMINED);
});
