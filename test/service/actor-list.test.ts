import t, { type Test } from 'tap';
import { z } from 'zod';
import { createWholeScope } from '../../src/identity/access/whole-scope.ts';
import { createInspector } from '../../src/inspection/inspector.ts';
import { inspectionRoutes } from '../../src/routes/inspection.ts';
import { ActorList, type LiveActor } from '../../src/schema/live-actor.ts';
import type { Run } from '../../src/schema/run.ts';
import { inState, type RunRecord } from '../../src/schema/run-state.ts';
import { ADMIN_TOKEN as SERVE_TOKEN, serve } from '../http/serve.ts';
import { startRuns } from '../inspection/actors.ts';
import { storeFor } from '../store/open.ts';
import { run as record, SCOPE, write } from '../store/records.ts';
import { asks } from './models.ts';
import { withTools } from './suspended.ts';
import { ADMIN_TOKEN, eventually } from './troupe.ts';

/** `GET /v1/system/actors`: pages and filters over live actors and over runs that exist only in the store. */

const ACTORS = '/v1/system/actors';

/** Store reads that one page request may cost in addition to its rows. */
const FEW = 40;

const listOver =
  (url: string, token: string) =>
  async (query: Record<string, string | number> = {}) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    const response = await fetch(`${url}${ACTORS}?${search}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, body: z.unknown().parse(await response.json()) };
  };

type List = ReturnType<typeof listOver>;

const pageOf = async (list: List, query: Record<string, string | number>): Promise<ActorList> =>
  ActorList.parse((await list(query)).body);

/** Reads all pages and calls `turned` after each. */
const walk = async (
  list: List,
  query: Record<string, string | number>,
  turned = async (_page: number, _items: LiveActor[]): Promise<void> => {},
): Promise<LiveActor[][]> => {
  const pages: LiveActor[][] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: ActorList = await pageOf(list, { ...query, cursor });
    pages.push(page.items);
    if (page.has_more !== (page.next_cursor !== null)) throw new Error('has_more and next_cursor differ');
    cursor = page.next_cursor;
    await turned(pages.length, page.items);
  }
  return pages;
};

/** The inspection routes over a store and actors that the test fills. */
const routesOver = async (t: Test) => {
  const store = await storeFor(t);
  const inspector = createInspector({ clock: { now: () => 1000 } });
  const { url } = await serve(t, inspectionRoutes({ inspector, store, wholeScope: createWholeScope(store) }));
  const rest = (runs: readonly RunRecord[], before?: (run: RunRecord) => RunRecord) =>
    write(store, (batch) => {
      for (const run of runs) store.runs.put(batch, SCOPE, run, before?.(run));
    });
  /** Starts actors of runs that are `created`, as in the store, or executing. */
  const live = (count: number, id: (index: number) => string, executing = false) =>
    startRuns(count).map((actor, index) => {
      const ended = inspector.began(actor, {
        machine: 'run',
        id: id(index),
        scope: SCOPE,
        parent: 'thread:t1',
      });
      if (executing) actor.send({ type: 'CLAIM' });
      return ended;
    });
  return { store, inspector, rest, live, list: listOver(url, SERVE_TOKEN) };
};

const runsOf = (count: number, status: 'created' | 'waiting', thread_id = 't1'): RunRecord[] =>
  Array.from({ length: count }, (_, index) =>
    record(`${status} ${thread_id} ${index}`, { status, thread_id }),
  );

const waiting = (run: RunRecord): RunRecord => ({ ...run, ...inState('waiting.forInput') });

const PERMISSION: Run['waiting'] = {
  reason: 'tool_permission',
  tickets: [
    { ticket_id: 'p', tool_call_id: 'c', tool_name: 'x', resume_mode: 'replay_tool_call', updated_at: 1 },
  ],
};

const idsOf = (pages: readonly LiveActor[][]): string[] => pages.flat().map(({ id }) => id);

t.test('lists inactive runs after live actors, each exactly once across pages', async (t) => {
  const { rest, live, list } = await routesOver(t);
  await rest([...runsOf(450, 'created'), ...runsOf(350, 'waiting')]);
  live(300, (index) => `live ${index}`, true);
  live(10, (index) => `created t1 ${index * 30}`);
  const pages = await walk(list, { limit: 100 });
  const ids = idsOf(pages);
  t.equal(ids.length, 1100);
  t.equal(new Set(ids).size, 1100, 'no run is listed twice');
  t.strictSame(
    pages.map(({ length }) => length),
    Array.from({ length: 11 }, () => 100),
  );
  const at_rest = pages.flat().map((actor) => actor.at_rest);
  t.equal(at_rest.lastIndexOf(false), 309);
  t.equal(at_rest.indexOf(true), 310);
  t.equal((await pageOf(list, {})).total, 1100);
});

t.test('paginates actors when no run is inactive', async (t) => {
  const { live, list } = await routesOver(t);
  live(120, (index) => `live ${index}`, true);
  const pages = await walk(list, { limit: 50 });
  t.strictSame(
    pages.map(({ length }) => length),
    [50, 50, 20],
  );
  t.equal(new Set(idsOf(pages)).size, 120);
});

t.test('describes an inactive run as its machine and its record do', async (t) => {
  const { rest, list } = await routesOver(t);
  await rest([
    record('W', { status: 'waiting', thread_id: 'T', updated_at: 17, waiting: PERMISSION }),
    record('C', { status: 'created', thread_id: 'T', updated_at: 18 }),
    record('D', { status: 'done', thread_id: 'T' }),
    record('E', { status: 'running', thread_id: 'T' }),
  ]);
  const { items, total } = await pageOf(list, {});
  const same = { machine: 'run', parent: 'thread:T', children: [], at_rest: true };
  t.equal(total, 2);
  t.match(items, [
    { ...same, id: 'run:C', state: 'created', tags: ['created'], since: 18_000 },
    {
      ...same,
      id: 'run:W',
      state: 'waiting.forDecision.parked',
      tags: ['waiting', 'tool_permission'],
      since: 17_000,
    },
  ]);
});

t.test('applies filters to inactive runs and live actors alike, alone and combined', async (t) => {
  const { rest, live, list } = await routesOver(t);
  await rest([
    ...runsOf(3, 'created'),
    ...runsOf(2, 'waiting'),
    ...runsOf(4, 'waiting', 't2'),
    record('D', { status: 'done' }),
  ]);
  live(1, () => 'created t1 1');
  live(1, () => 'live', true);
  const parked = (await pageOf(list, { run: 'waiting t1 0' })).items[0]?.state ?? '';
  const table: [query: Record<string, string>, count: number, total?: null][] = [
    [{}, 10],
    [{ machine: 'run' }, 10],
    [{ machine: 'thread' }, 0],
    [{ thread: 't1' }, 6],
    [{ thread: 't2' }, 4],
    [{ thread: 'nobody' }, 0],
    [{ thread: '\u0001' }, 0],
    [{ state: 'waiting' }, 6],
    [{ state: parked }, 6, null],
    [{ state: 'created' }, 3],
    [{ state: 'running' }, 1],
    [{ run: 'created t1 0' }, 1],
    [{ run: 'created t1 1' }, 1],
    [{ run: 'live' }, 1],
    [{ run: 'D' }, 0],
    [{ run: 'nobody' }, 0],
    [{ run: 'waiting t2 0', thread: 't2' }, 1],
    [{ run: 'waiting t2 0', thread: 't1' }, 0],
    [{ run: 'waiting t2 0', state: 'created' }, 0],
    [{ thread: 't1', state: 'waiting' }, 2],
    [{ thread: 't2', machine: 'run', state: parked }, 4, null],
  ];
  for (const [query, count, total = count] of table) {
    for (const limit of [1, 200]) {
      const pages = await walk(list, { ...query, limit });
      t.equal(new Set(idsOf(pages)).size, count, `${JSON.stringify(query)} by ${limit}`);
      t.equal(pages.flat().length, count);
    }
    t.equal((await pageOf(list, query)).total, total, JSON.stringify(query));
  }
});

t.test('rejects invalid filters and page parameters with the allowed values', async (t) => {
  const { rest, list } = await routesOver(t);
  await rest(runsOf(3, 'waiting'));
  const { next_cursor } = await pageOf(list, { limit: 1, state: 'waiting' });
  const cursor = next_cursor ?? '';
  const refusals: [query: Record<string, string>, error: RegExp][] = [
    [{ machine: 'robot' }, /^machine: must be one of 'thread', 'run',/],
    [{ machine: '' }, /^machine: must be one of/],
    [{ thread: '' }, /^thread: must not be empty$/],
    [{ run: '' }, /^run: must not be empty$/],
    [{ state: 'wating' }, /^state: no machine has a state 'wating'; did you mean 'waiting'\? \(states: /],
    [{ state: '' }, /^state: no machine has a state ''/],
    [{ machine: 'thread', state: 'acting' }, /^state: the machine 'thread' does not have a state 'acting'/],
    [{ limit: 'x' }, /^limit: must be a whole number/],
    [{ cursor: '7' }, /^cursor must be a valid pagination token$/],
    [{ cursor: 'act_x' }, /^cursor must be a valid pagination token$/],
    [{ cursor: `thr_${cursor.slice(4)}`, state: 'waiting' }, /^cursor must be a valid pagination token$/],
    [{ cursor }, /^cursor does not match actor query filters$/],
    [{ cursor, state: 'created' }, /^cursor does not match actor query filters$/],
  ];
  for (const [query, error] of refusals) {
    t.match(await list(query), { status: 400, body: { error } }, JSON.stringify(query));
  }
  t.equal(
    (await list({ cursor, state: 'waiting', limit: 5 })).status,
    200,
    'the page size is not bound to the cursor',
  );
});

t.test('misses no run that suspends or resumes between two pages', async (t) => {
  const { rest, live, list } = await routesOver(t);
  const [queued, waits] = [runsOf(500, 'created'), runsOf(500, 'waiting')];
  await rest([...queued, ...waits]);
  const ends = live(200, (index) => `waiting t1 ${index}`);
  const last = new Map<string, LiveActor>();
  const pages = await walk(list, { limit: 50 }, async (page, items) => {
    for (const actor of items) last.set(actor.id, actor);
    // After each page, one listed live actor becomes inactive, one inactive run becomes live, and one queued run
    // suspends.
    ends[page * 7]?.();
    live(1, () => `waiting t1 ${499 - page}`);
    const moved = queued[499 - page];
    if (moved) await rest([waiting(moved)], () => moved);
  });
  t.ok(pages.length > 20);
  t.equal(last.size, 1000, 'every run is listed');
  t.equal(last.get('run:waiting t1 498')?.at_rest, false);
  t.equal(last.get('run:waiting t1 7')?.at_rest, true);
  const still = idsOf(pages).filter((id) => id === 'run:created t1 0' || id === 'run:waiting t1 300');
  t.equal(still.length, 2, 'unchanged runs are listed once');
});

t.test('reads about as many records as a page has, however many runs are inactive', async (t) => {
  const { store, rest, list } = await routesOver(t);
  await rest([...runsOf(1500, 'waiting'), ...runsOf(20, 'waiting', 't2')]);
  for (const query of ['', 'thread=t1', 'thread=t2', 'state=waiting', 'run=waiting t1 7']) {
    const before = store.reads;
    const { items } = await pageOf(list, { ...Object.fromEntries(new URLSearchParams(query)), limit: 20 });
    t.ok(store.reads - before < 2 * items.length + FEW, `${store.reads - before} for '${query}'`);
  }
  const before = store.reads;
  t.equal((await pageOf(list, { state: 'inferring' })).items.length, 0);
  t.ok(store.reads - before < FEW, 'no inactive run is in that state');
});

t.test('ends a page early after enough reads, and continues behind it on the next page', async (t) => {
  const { rest, live, list } = await routesOver(t);
  await rest(runsOf(1000, 'waiting'));
  live(600, (index) => `waiting t1 ${index}`, true);
  const pages = await walk(list, { state: 'waiting', limit: 20 });
  t.ok(
    pages.some(({ length }) => length === 0),
    'a page with too many reads ends empty',
  );
  t.equal(idsOf(pages).length, 400);
  t.equal(new Set(idsOf(pages)).size, 400);
});

t.test('lists suspended runs as live actors in this process, and as inactive after a restart', async (t) => {
  const { troupe } = await withTools(t);
  const threads = Array.from({ length: 40 }, (_, index) => `T${index}`);
  const runs: string[] = [];
  for (const thread of threads) {
    troupe.models.steps.push(asks(['c', 'risky']));
    const messages = [{ role: 'user', content: 'Hello' }];
    const [start] = await troupe.runToEnd({ agentId: 'steps', threadId: thread, messages });
    runs.push(`run:${start?.run_id}`);
  }
  const list: List = (query) => listOver(troupe.url, ADMIN_TOKEN)(query);
  const before = await walk(list, { machine: 'run', limit: 7 });
  t.strictSame(idsOf(before).sort(), [...runs].sort());
  t.ok(before.flat().every(({ at_rest }) => !at_rest));
  await troupe.restart();
  const after = await walk(list, { state: 'waiting', limit: 7 });
  t.strictSame(idsOf(after).sort(), [...runs].sort());
  t.ok(after.flat().every(({ at_rest, tags }) => at_rest && tags.includes('waiting')));
  t.equal((await pageOf(list, { state: 'waiting' })).total, 40);
  t.match(await pageOf(list, { thread: 'T3', machine: 'run' }), {
    items: [{ id: runs[3], parent: 'thread:T3', at_rest: true }],
    total: 1,
  });
});

t.test('lists a queued run as inactive until it starts', async (t) => {
  const { troupe } = await withTools(t);
  const list = listOver(troupe.url, ADMIN_TOKEN);
  const slow = await troupe.run({
    agentId: 'slow',
    threadId: 'T',
    messages: [{ role: 'user', content: 'x' }],
  });
  await slow.until('text_delta');
  await troupe.call('POST', '/v1/threads/T/mailbox', { payload: 'y' });
  const { items, total } = await pageOf(list, { thread: 'T' });
  t.equal(total, 3);
  t.match(items, [
    { id: 'thread:T', at_rest: false },
    { state: 'running.inferring', at_rest: false },
    { state: 'created', tags: ['created'], parent: 'thread:T', at_rest: true },
  ]);
  troupe.models.release();
  await slow.rest();
  const queued = { run: items[2]?.id.slice('run:'.length) ?? '' };
  const now = await eventually(
    () => pageOf(list, queued),
    (page) => page.items.every(({ at_rest }) => !at_rest),
  );
  t.match(now, { items: [{ id: items[2]?.id, parent: 'thread:T' }], total: 1 });
});
