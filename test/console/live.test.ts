import t, { type Test } from 'tap';
import { each } from '../../src/console/data/each.ts';
import { setBackend } from '../../src/console/data/request.ts';
import { LogEvent } from '../../src/console/events/event.ts';
import { linesUpTo, MOST_LINES, readUpTo } from '../../src/console/fork/fork.ts';
import { Message, MOST_MESSAGES, messagesOf } from '../../src/console/history/messages.ts';
import { heldBack, refreshed } from '../../src/console/runs/live-runs.ts';
import { newestRuns } from '../../src/console/runs/pages.ts';
import { durationOf, Run } from '../../src/console/runs/run.ts';
import {
  alike,
  asksFor,
  grouped,
  isLate,
  openTickets,
  wishOf,
} from '../../src/console/screens/inbox/tickets.ts';
import { linesOf, spansOf } from '../../src/console/screens/run-detail/spans.ts';
import { isView, viewsIn } from '../../src/console/screens/runs/views.ts';
import {
  ancestorsOf,
  currentOf,
  lanesOf,
  mailboxOf,
  Thread,
} from '../../src/console/screens/threads/thread.ts';
import { MOST_HELD, NOTHING, withNewer, withOlder } from '../../src/console/screens/threads/window.ts';
import { newestOf, sumsOf } from '../../src/console/screens/traces/sums.ts';
import { placeIn, spanOf, type TracedRun, tokensOf, traceEvents } from '../../src/console/trace/traces.ts';

/** What the live screens work out: lists that are longer than what is read at once, and what is made of them. */

setBackend('http://service');

/** Answers instead of the service. @returns what was asked, in its order */
const answering = (t: Test, answer: (url: URL, method: string) => Response | Promise<Response>): string[] => {
  const asked: string[] = [];
  const own = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const url = new URL(String(input));
    asked.push(`${url.pathname}${url.search}`);
    return answer(url, init?.method ?? 'GET');
  };
  t.teardown(() => {
    globalThis.fetch = own;
  });
  return asked;
};

const number = (url: URL, name: string, usual: number): number => Number(url.searchParams.get(name) ?? usual);
const signal = new AbortController().signal;

const run = (at: number, more: object = {}): Run =>
  Run(
    {
      run_id: `r${at}`,
      thread_id: 't',
      agent_id: 'a',
      status: 'running',
      created_at: at,
      updated_at: at,
      ...more,
    },
    '',
  );

const ids = (runs: readonly { run_id: string }[]) => runs.map(({ run_id }) => run_id);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

t.test('the newest runs are read from the end of the list, however long it is', async (t) => {
  let total = 0;
  const asked = answering(t, (url) => {
    const [offset, limit] = [number(url, 'offset', 0), number(url, 'limit', 0)];
    const items = range(offset, Math.min(total, offset + limit)).map((at) => run(at));
    return Response.json({ items, total });
  });
  const read = async (of: number, most: number) => {
    total = of;
    asked.length = 0;
    const resource = newestRuns({ status: 'running' }, most);
    return resource.guard(await resource.read?.(signal), '');
  };
  for (const of of [0, 1, 199, 200]) {
    const { items } = await read(of, 1000);
    t.strictSame(
      ids(items),
      ids(
        range(0, of)
          .reverse()
          .map((at) => run(at)),
      ),
    );
    t.equal(asked.length, 1, `${of} come with the first page`);
  }
  for (const of of [201, 400, 401, 1234]) {
    const newest = await read(of, 400);
    t.equal(newest.total, of);
    t.strictSame(
      ids(newest.items),
      ids(
        range(Math.max(0, of - 400), of)
          .reverse()
          .map((at) => run(at)),
      ),
    );
  }
  t.match(asked[0], /^\/v1\/runs\?status=running&offset=0&limit=200$/);
});

t.test('a long list of runs is kept right by its newest part', async (t) => {
  const whole = { items: [5, 4, 3, 2, 1].map((at) => run(at)), total: 5 };
  const head = { items: [run(7), run(5, { status: 'done' }), run(3)], total: 6 };
  const kept = refreshed(whole, head);
  t.strictSame(ids(kept.items), ['r7', 'r5', 'r3', 'r2', 'r1'], 'what is not in the new part is gone');
  t.equal(kept.items[1]?.status, 'done');
  t.strictSame(ids(refreshed(whole, { items: [run(9)], total: 1 }).items), ['r9'], 'there are no others');
  const still = heldBack(whole.items, [run(8), run(6), run(5, { status: 'done' })]);
  t.strictSame(ids(still.rows), ids(whole.items), 'nothing moves under its reader');
  t.equal(still.rows[0]?.status, 'done', 'yet it is told how it is');
  t.equal(still.more, 2);
});

t.test('many requests are sent five at a time, and one that fails stops no other', async (t) => {
  let underWay = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  const goOn = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  const results = each(ids(range(0, 12).map((at) => run(at))), async (id) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      // Whatever else begins at once has begun by then.
      if (waiting.length === 5 || id === 'r11') setImmediate(goOn);
    });
    underWay -= 1;
    if (id === 'r3') throw new Error('Bearer abcdefgh12 was refused');
  });
  const found = await results;
  t.equal(most, 5);
  t.equal(found.length, 12);
  t.match(found[3], { id: 'r3', outcome: 'failed' });
  t.notMatch(found[3]?.said, /abcdefgh12/);
  t.equal(found.filter(({ outcome }) => outcome === 'done').length, 11);
});

t.test('a queued run has not taken any time, and one that goes on takes it until now', async (t) => {
  t.equal(durationOf(run(10), 15_500), 5.5);
  t.equal(durationOf(run(10, { status: 'done', started_at: 12, finished_at: 15 }), 99_000), 3);
  t.equal(durationOf(run(10), 1000), 0, 'clocks may differ');
});

t.test('views are what somebody has stored, and nothing else', async (t) => {
  t.strictSame(
    viewsIn([{ name: 'Mine', query: { q: 'x', n: 1 } }, { name: '' }, 'x', { name: 'All', query: null }]),
    [
      { name: 'Mine', query: { q: 'x' } },
      { name: 'All', query: {} },
    ],
  );
  t.strictSame(viewsIn({ name: 'Mine' }), []);
  const view = { name: 'Mine', query: { q: 'x' } };
  t.ok(isView(view, { q: 'x', status: undefined }));
  t.notOk(isView(view, { q: 'x', status: 'done' }));
  t.notOk(isView(view, {}));
});

const ticket = (id: string, updated_at: number, more: object = {}) => ({
  ticket_id: `perm_${id}`,
  tool_call_id: id,
  tool_name: 'search',
  arguments: {},
  resume_mode: 'replay_tool_call',
  updated_at,
  ...more,
});

const waits = (at: number, ...tickets: object[]) =>
  run(at, { status: 'waiting', waiting: { reason: 'tool_permission', tickets } });

t.test('who has waited longest comes first, and calls that are alike can be decided together', async (t) => {
  const answer = { resume_mode: 'use_decision_as_tool_result' };
  const open = openTickets([
    waits(1, ticket('late', 900), ticket('first', 100)),
    run(2),
    waits(3, ticket('other', 500, { tool_name: 'write' }), ticket('asked', 50, answer)),
  ]);
  t.strictSame(
    open.map(({ key }) => key),
    ['r3 perm_asked', 'r1 perm_first', 'r3 perm_other', 'r1 perm_late'],
  );
  t.strictSame(
    grouped(open, 'tool').map(({ name, tickets }) => [name, tickets.length]),
    [
      ['search', 3],
      ['write', 1],
    ],
  );
  t.strictSame(
    alike(open).map(({ tool, tickets }) => [tool, tickets.length]),
    [['search', 2]],
    'an answer is never given to many',
  );
  t.strictSame(grouped(open, 'agent').length, 1);
  const [oldest] = open;
  t.ok(oldest && isLate(oldest, 50 + 300_001) && !isLate(oldest, 50 + 300_000));
});

t.test('what was typed means what was asked for', async (t) => {
  t.equal(asksFor({ resume_mode: 'pass_decision_to_tool' }), 'arguments');
  t.equal(asksFor({ resume_mode: 'of some day' }), 'permission');
  const answer = { isDenied: false, asks: 'answer' } as const;
  t.strictSame(wishOf('{"a":1}', answer), { wish: { do: 'answer', value: { a: 1 } } });
  t.strictSame(wishOf('On Monday', answer), { wish: { do: 'answer', value: 'On Monday' } });
  t.strictSame(wishOf('  ', answer), { problem: 'answer.problem' });
  const change = { isDenied: false, asks: 'arguments' } as const;
  t.strictSame(wishOf('{', change), { problem: 'arguments.problem' });
  t.strictSame(wishOf('null', change), { wish: { do: 'answer', value: null } });
  t.strictSame(wishOf(' no ', { ...change, isDenied: true }), { wish: { do: 'deny', reason: 'no' } });
});

const message = (seq: number, more: object = {}): Message =>
  Message(
    {
      id: `m${seq}`,
      role: 'user',
      content: [{ type: 'text', text: `${seq}` }],
      seq,
      created_at: seq,
      ...more,
    },
    '',
  );
const messages = (from: number, to: number) => range(from, to).map((seq) => message(seq));
const seqs = (all: readonly Message[]) => all.map(({ seq }) => seq);

t.test('of a long conversation a part without gaps is held, and never more than it may be', async (t) => {
  let held = withOlder(NOTHING, messages(9901, 10_001).reverse(), true);
  t.strictSame(seqs(held.messages), range(9901, 10_001));
  t.match(held, { hasOlder: true, hasNewer: false });
  held = withNewer(held, [message(10_000), message(10_001)], false);
  t.equal(held.messages.length, 101, 'each once');
  for (let before = 9901; held.messages.length < MOST_HELD; before -= 100) {
    held = withOlder(held, messages(before - 100, before), true);
  }
  t.equal(held.messages.length, MOST_HELD);
  t.equal(held.hasNewer, true, 'the newest were let go');
  const first = held.messages[0]?.seq ?? 0;
  t.strictSame(seqs(held.messages), range(first, first + MOST_HELD));
  held = withNewer(held, messages(first + MOST_HELD, first + MOST_HELD + 50), false);
  t.match(held, { hasOlder: true, hasNewer: false });
  t.strictSame(seqs(held.messages), range(first + 50, first + MOST_HELD + 50));
  t.match(withOlder(NOTHING, messages(1, 3), false), { hasOlder: false });
});

t.test('a fork says again what was said, up to the last question', async (t) => {
  const said = [
    message(1),
    message(2, { role: 'assistant' }),
    message(3, { visibility: 'internal' }),
    message(4, { role: 'tool' }),
    message(5, { role: 'assistant', content: [], tool_calls: [] }),
    message(6),
    message(7, { role: 'assistant' }),
  ];
  const [first, answer] = [
    { role: 'user', content: '1' },
    { role: 'assistant', content: '2' },
  ];
  t.strictSame(linesUpTo(said, 7), [first, answer, { role: 'user', content: '6' }]);
  t.strictSame(linesUpTo(said, 2), [first]);
  t.strictSame(linesUpTo(said.slice(1), 5), [], 'nobody has asked anything');
});

t.test('messages are read page by page, up to where nobody reads on', async (t) => {
  let total = 0;
  const asked = answering(t, (url) => {
    const after = number(url, 'after', number(url, 'cursor', 0));
    const before = number(url, 'before', total + 1);
    const limit = number(url, 'limit', 0);
    const found = messages(after + 1, Math.min(before, after + 1 + limit));
    const last = found.at(-1)?.seq;
    const hasMore = last !== undefined && last < Math.min(total, before - 1);
    return Response.json({ messages: found, has_more: hasMore, next_cursor: String(last ?? '') });
  });
  total = 450;
  t.strictSame(seqs(await readUpTo('t', 401)), range(1, 402));
  t.equal(asked.length, 3);
  total = 100_000;
  t.equal((await readUpTo('t', 90_000)).length, MOST_LINES);
  const ofRun = messagesOf({ thread_id: 't', run_id: 'r' });
  total = 200;
  asked.length = 0;
  t.equal(ofRun.guard(await ofRun.read?.(signal), '').length, 200);
  t.equal(asked.length, 1);
  total = 401;
  t.equal(ofRun.guard(await ofRun.read?.(signal), '').length, 401);
  total = 100_000;
  t.equal(ofRun.guard(await ofRun.read?.(signal), '').length, MOST_MESSAGES);
});

const dispatch = (dispatch_id: string, status: string, updated_at: number) => ({
  dispatch_id,
  run_id: 'r',
  priority: 128,
  dispatch_epoch: 1,
  status,
  attempt_count: 0,
  max_attempts: 3,
  available_at: 0,
  lease_until: null,
  claimed_by: null,
  last_error: null,
  dedupe_key: null,
  created_at: 0,
  updated_at,
});

t.test('a mailbox is read whole, and each dispatch stands in its lane', async (t) => {
  let total = 0;
  const asked = answering(t, (url) => {
    const [offset, limit] = [number(url, 'offset', 0), number(url, 'limit', 0)];
    const found = range(offset, Math.min(total, offset + limit));
    return Response.json({ items: found.map((at) => dispatch(`d${at}`, 'Acked', at)) });
  });
  const mailbox = mailboxOf('t');
  const count = async (of: number) => {
    total = of;
    asked.length = 0;
    return [mailbox.guard(await mailbox.read?.(signal), '').length, asked.length];
  };
  t.strictSame(await count(0), [0, 1]);
  t.strictSame(await count(199), [199, 1]);
  t.strictSame(await count(200), [200, 2]);
  t.strictSame(await count(501), [501, 3]);
  t.strictSame(await count(100_000), [1000, 5]);

  const lanes = lanesOf([
    dispatch('q2', 'Queued', 9),
    dispatch('old', 'Superseded', 1),
    dispatch('c', 'Claimed', 2),
    dispatch('q1', 'Queued', 3),
    dispatch('new', 'OfSomeDay', 8),
    dispatch('dead', 'DeadLetter', 4),
  ]);
  const named = Object.entries(lanes).map(([lane, all]) => [lane, ...all.map((each) => each.dispatch_id)]);
  t.strictSame(named, [
    ['queue', 'q2', 'q1'],
    ['claimed', 'c'],
    ['dead', 'dead'],
    ['over', 'new', 'old'],
  ]);
});

t.test('a thread is what it is busy with', async (t) => {
  const [queued, waits, runs, done] = ['created', 'waiting', 'running', 'done'].map((status) => ({ status }));
  t.ok(queued && waits && runs && done);
  if (!queued || !waits || !runs || !done) return;
  t.equal(currentOf([queued, waits, runs, done]), runs);
  t.equal(currentOf([queued, waits, done]), waits);
  t.equal(currentOf([done, queued]), done);
  t.equal(currentOf([]), undefined);
});

t.test('a lineage ends at its top, and is cut where it would never end', async (t) => {
  answering(t, (url) => {
    const at = Number(url.pathname.split('/').at(-1));
    return Response.json({ id: `${at}`, ...(at !== 3 && { parent_thread_id: `${at + 1}` }) });
  });
  const above = async (parent_thread_id?: string) => {
    const resource = ancestorsOf(Thread({ id: 'own', ...(parent_thread_id && { parent_thread_id }) }, ''));
    return resource.guard(await resource.read?.(signal), '').map(({ id }) => id);
  };
  t.strictSame(await above(), []);
  t.strictSame(await above('1'), ['3', '2', '1'], 'the highest first');
  t.equal((await above('4')).length, 20);
});

const traced = (more: Partial<TracedRun>): TracedRun => ({
  run_id: 'r',
  agent_id: 'a',
  started_at: 10,
  ended_at: 12,
  final_status: 'ok',
  prompt_ids: [],
  experiment_id: undefined,
  variant_name: undefined,
  judge_score: undefined,
  ...more,
});

t.test('traces are summed as far as they are shown', async (t) => {
  const all = range(0, 1001).map((at) => traced({ run_id: `r${at}` }));
  t.match(newestOf(all, 1000), { hasMore: true });
  t.equal(newestOf(all, 1000).runs.length, 1000);
  t.match(newestOf(all.slice(1), 1000), { hasMore: false }, 'exactly as many are all of them');
  t.strictSame(sumsOf([]), { count: 0, failedShare: 0, half: undefined, most: undefined });
  const sums = sumsOf([
    traced({ final_status: 'error' }),
    traced({ ended_at: 14 }),
    traced({ ended_at: undefined }),
    traced({ ended_at: 9 }),
  ]);
  t.match(
    sums,
    { count: 4, failedShare: 0.25, half: 2000 },
    'what goes on has no time, and none is negative',
  );
  t.equal(Math.round(sums.most ?? 0), 3800);
});

t.test('a trace of any length is read whole and measured', async (t) => {
  let total = 0;
  const event = (at: number) => ({
    type: 'tool',
    started_at_ms: 1000 + at,
    ended_at_ms: 1005 + at,
    input_tokens: 2,
  });
  const asked = answering(t, (url) => {
    const [offset, limit] = [number(url, 'offset', 0), number(url, 'limit', 0)];
    const found = range(offset, Math.min(total, offset + limit));
    return new Response(found.map((at) => `${JSON.stringify(event(at))}\n`).join(''));
  });
  const read = async (of: number) => {
    total = of;
    asked.length = 0;
    const resource = traceEvents('r');
    return resource.guard(await resource.read?.(signal), '');
  };
  t.strictSame([(await read(0)).length, asked.length], [0, 1]);
  t.strictSame([(await read(999)).length, asked.length], [999, 1]);
  t.strictSame([(await read(1000)).length, asked.length], [1000, 2]);
  t.strictSame([(await read(2500)).length, asked.length], [2500, 3]);
  const long = traceEvents('r').guard(range(0, 200_000).map(event), '');
  t.strictSame(spanOf(long), { from: 1000, to: 201_004 }, 'more than a call takes as arguments');
  t.strictSame(spanOf([]), { from: 0, to: 0 });
  const [open] = await read(1);
  t.ok(open);
  if (!open) return;
  t.strictSame(spanOf([{ ...open, ended_at_ms: undefined }]), { from: 1000, to: 1000 });
  t.strictSame(placeIn(open, { from: 1000, to: 1010 }), { left: 0, width: 0.5 });
  t.strictSame(placeIn(open, { from: 0, to: 0 }), { left: 0, width: 0 });
  t.strictSame(tokensOf(await read(3)), { input: 6, output: 0 });
});

t.test('a bar tells with what a call began and what came of it, below its step', async (t) => {
  const event = (event_kind: string, payload: object, created_at: number) =>
    LogEvent({ event_id: `e${created_at}`, event_kind, payload, created_at }, '');
  const spans = spansOf([
    event('RunQueued', {}, 1),
    event('RunStarted', {}, 2),
    event('InferenceComplete', { model: 'm', duration_ms: 1 }, 3),
    event('ToolCallReady', { id: 'c', name: 'search', arguments: { q: 'x' } }, 4),
    event('ToolCallDone', { id: 'c', outcome: 'failed', result: { status: 'error', message: 'no' } }, 5),
  ]);
  t.match(spans.find(({ kind }) => kind === 'tool')?.detail, {
    arguments: { q: 'x' },
    outcome: 'failed',
    result: { message: 'no' },
  });
  t.strictSame(
    linesOf(spans).map((line) => ('span' in line ? line.span.kind : line.step)),
    ['queue', 1, 'inference', 2, 'tool'],
  );
});
