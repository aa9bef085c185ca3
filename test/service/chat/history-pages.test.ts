import { setImmediate as nextTick } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { toUIMessage, type UIMessage } from '../../../src/protocols/ai-sdk/messages.ts';
import { suspensionsIn } from '../../../src/protocols/ai-sdk/suspensions.ts';
import { chatPage, type PageRequest } from '../../../src/routes/chat/history.ts';
import { viewed, WINDOW_ROWS } from '../../../src/runtime/index.ts';
import { stoppedAnswers } from '../../../src/runtime/ledger/history-view.ts';
import { openHistory, WINDOW_BYTES } from '../../../src/runtime/ledger/history-windows.ts';
import type { ListedMessage, Message } from '../../../src/schema/message.ts';
import type { Store } from '../../../src/store/index.ts';
import fc from '../../random.ts';
import { storeFor } from '../../store/open.ts';
import { fillLong, LONG_ROWS, message, run, SCOPE, write } from '../../store/records.ts';

/** Pages of long histories, which are read in windows (chat-and-agui.md 8). */

type HistoryOf = { store: Store; scope: string; thread_id: string };

const RUNS = ['r1', 'r2', 'r3'] as const;
const CALLS = ['c1', 'c2', 'c3'] as const;
const WINDOWS = [1, 2, 3, 200];

type Shape =
  | { kind: 'user' | 'empty' | 'text' | 'internal'; run: string }
  | { kind: 'ask'; run: string; calls: string[]; text: boolean }
  | { kind: 'result' | 'marker'; run: string; call: string };

const anyRun = fc.constantFrom(...RUNS);
const anyCall = fc.constantFrom(...CALLS);
const anyShape: fc.Arbitrary<Shape> = fc.oneof(
  fc.record({ kind: fc.constantFrom('user', 'empty', 'text', 'internal'), run: anyRun }),
  fc.record({
    kind: fc.constant('ask'),
    run: anyRun,
    calls: fc.array(anyCall, { minLength: 1, maxLength: 3 }),
    text: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom('result', 'result', 'marker'), run: anyRun, call: anyCall }),
);

const anyHistory = fc.record({
  shapes: fc.array(anyShape, { maxLength: 50 }),
  /** An inclusive range of messages that a client removed by going back. */
  rewound: fc.option(fc.tuple(fc.nat(49), fc.nat(49)), { nil: undefined }),
  retracted: fc.array(fc.record({ at: fc.nat(49), call: anyCall }), { maxLength: 5 }),
  stopped: fc.array(fc.record({ at: fc.nat(49), run: anyRun }), { maxLength: 6 }),
  suspended: fc.array(
    fc.record({ run: anyRun, call: anyCall, status: fc.constantFrom('suspended', 'succeeded') }),
    { maxLength: 4 },
  ),
});
type History = typeof anyHistory extends fc.Arbitrary<infer T> ? T : never;

const messageOf = (shape: Shape, id: string): Message => {
  const metadata = { run_id: shape.run };
  const content: Message['content'] = [{ type: 'text', text: id }];
  switch (shape.kind) {
    case 'user':
      return { id, role: 'user', content, metadata };
    case 'empty':
      return { id, role: 'user', content: [], metadata };
    case 'text':
      return { id, role: 'assistant', content, metadata: { ...metadata, step_index: 1, reasoning: 'so' } };
    case 'internal':
      return {
        id,
        role: 'system',
        content,
        visibility: 'internal',
        metadata: { ...metadata, compaction: { from_seq: 1, to_seq: 2 } },
      };
    case 'ask': {
      const tool_calls = shape.calls.map((call) => ({ id: call, name: 'look', arguments: {} }));
      return {
        id,
        role: 'assistant',
        content: shape.text ? content : [],
        tool_calls,
        metadata: { ...metadata, step_index: 0 },
      };
    }
    case 'result':
    case 'marker': {
      const hidden = shape.kind === 'marker' && ({ visibility: 'internal' } as const);
      return { id, role: 'tool', content, tool_call_id: shape.call, metadata, ...hidden };
    }
  }
};

const fill = ({ store, scope, thread_id }: HistoryOf, history: History): Promise<void> =>
  write(store, (batch) => {
    const { shapes, rewound, retracted, stopped, suspended } = history;
    const of = [scope, thread_id] as const;
    const messages = shapes.map((shape, index) => messageOf(shape, `m${index + 1}`));
    let external = 0;
    const rows = messages.map((each, index) => {
      if (each.visibility !== 'internal') external += 1;
      return { seq: index + 1, message: each, created_at: 1, external };
    });
    store.messages.append(batch, ...of, rows);
    const [first, last] = rewound ? [Math.min(...rewound), Math.max(...rewound)] : [1, 0];
    for (const { seq, message: each } of rows) {
      if (seq <= first || seq > last + 1) continue;
      const run_id = each.metadata?.run_id ?? '';
      store.retractions.put(batch, ...of, { seq, external: each.visibility !== 'internal', run_id });
    }
    for (const { at, call } of retracted)
      if (messages[at]?.tool_calls) store.retractions.put(batch, ...of, { seq: at + 1, call_id: call });
    for (const { at, run: run_id } of stopped) {
      const cut = message(`stopped ${at} ${run_id}`, run_id);
      if (at <= rows.length)
        store.stopped.put(batch, ...of, { seq: at, run_id, message: cut, created_at: 1 });
    }
    for (const run_id of RUNS) {
      const calls = Object.fromEntries(
        suspended
          .filter((each) => each.run === run_id)
          .map(({ call, status }) => [
            call,
            { status, resume_mode: 'replay_tool_call', suspension_id: `perm_${call}` },
          ]),
      );
      const state = { revision: 1, extensions: { '__runtime.tool_call_states': { calls } } };
      store.runs.put(batch, scope, run(run_id, { thread_id, status: 'waiting', state }), undefined);
    }
  });

/**
 * A reference that reads the whole history in one pass: the tool messages of each call, and the last step of each run.
 */
const allAtOnce = (of: HistoryOf, filter: PageRequest['filter']) => {
  const messages = [...viewed(of, { ...filter, order: 'asc' }), ...stoppedAnswers(of, filter)].sort(
    (a, b) => a.seq - b.seq,
  );
  const results = new Map<ListedMessage, Map<string, ListedMessage[]>>();
  const asked = new Map<string, ListedMessage[]>();
  const lastSteps = new Map<string, ListedMessage>();
  for (const each of messages) {
    if (each.tool_call_id !== undefined) asked.get(each.tool_call_id)?.push(each);
    if (!each.tool_calls) continue;
    for (const { id } of each.tool_calls) asked.set(id, []);
    results.set(each, new Map(each.tool_calls.map(({ id }) => [id, asked.get(id) ?? []])));
    lastSteps.set(each.metadata?.run_id ?? '', each);
  }
  const suspensions = suspensionsIn((run_id) => of.store.runs.get(of.scope, run_id));
  const items = messages.flatMap((place) => {
    const isLastStep = lastSteps.get(place.metadata?.run_id ?? '') === place;
    const outlined = { place, results: results.get(place) ?? new Map(), isLastStep };
    const item = toUIMessage(outlined, { read: (each) => each, suspensions });
    return item ? [{ item, seq: place.seq }] : [];
  });
  return filter.order === 'desc' ? items.reverse() : items;
};

const expectedPage = (
  items: readonly { item: UIMessage; seq: number }[],
  { filter, start, limit }: Pick<PageRequest, 'filter' | 'start' | 'limit'>,
) => {
  const isBehind = (seq: number, mark: number) => (filter.order === 'asc' ? seq > mark : seq < mark);
  let from = 0;
  let to = items.length;
  if ('inFrontOf' in start) {
    const mark = start.inFrontOf;
    to = items.filter(({ seq }) => seq !== mark && !isBehind(seq, mark)).length;
    from = Math.max(0, to - limit);
  } else {
    const skipped = 'offset' in start ? start.offset : -1;
    from =
      'behind' in start
        ? items.filter(({ seq }) => !isBehind(seq, start.behind)).length
        : Math.min(skipped, to);
    to = Math.min(items.length, from + limit);
  }
  return {
    texts: items.slice(from, to).map(({ item }) => JSON.stringify(item)),
    seqs: items.slice(from, to).map(({ seq }) => seq),
    total: items.length,
    has_more: to < items.length,
    has_previous: from > 0,
  };
};

const NEVER = new AbortController().signal;
const FIRST = { filter: { order: 'asc', visibility: 'external' }, start: { offset: 0 } } as const;

const page = async (of: HistoryOf, request: Partial<PageRequest> = {}) => {
  const found = await chatPage(of, { ...FIRST, limit: 50, signal: NEVER, ...request });
  if (!found) throw new Error('the page was aborted');
  const { items, ...rest } = found;
  return { ...rest, seqs: items.map(({ seq }) => seq) };
};

const anyStart = fc.oneof(
  fc.record({ offset: fc.nat(20) }),
  fc.record({ behind: fc.nat(100).map((half) => half / 2) }),
  fc.record({ inFrontOf: fc.nat(100).map((half) => half / 2) }),
);

const anyRequest = fc.record({
  filter: fc.record(
    {
      order: fc.constantFrom('asc' as const, 'desc' as const),
      visibility: fc.constantFrom('external' as const, 'internal' as const, 'all' as const),
      after: fc.nat(52),
      before: fc.nat(52),
      run_id: anyRun,
    },
    { requiredKeys: ['order', 'visibility'] },
  ),
  start: anyStart,
  limit: fc.integer({ min: 1, max: 60 }),
});

t.test('returns the same pages in windows as in one pass', async (t) => {
  const store = await storeFor(t);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.array(anyRequest, { minLength: 1, maxLength: 6 }),
      async (history, requests) => {
        count += 1;
        const of = { store, scope: `s${count}`, thread_id: 't1' };
        await fill(of, history);
        for (const request of requests) {
          const expected = expectedPage(allAtOnce(of, request.filter), request);
          for (const windowRows of WINDOWS)
            t.strictSame(await page(of, { ...request, windowRows }), expected);
        }
      },
    ),
    { numRuns: 60 },
  );
});

/** Thread `t1` with many messages, and a page whose pass has started. */
const begun = async (t: Test, request: Partial<PageRequest> = {}, count = LONG_ROWS) => {
  const store = await storeFor(t);
  const of = { store, scope: SCOPE, thread_id: 't1' };
  await fillLong(store, 't1', count);
  const before = store.reads;
  return { store, before, page: page(of, { limit: 2, ...request }) };
};

/** A pass of thousands of event-loop ticks, which a commit interrupts also on a busy machine. */
const MANY_TICKS = { windowRows: 1 };

t.test('serves other work after each window', async (t) => {
  const { store, before, page } = await begun(t);
  let isDone = false;
  const done = page.finally(() => {
    isDone = true;
  });
  let ticks = 0;
  let most = store.reads - before;
  for (let reads = store.reads; !isDone; reads = store.reads) {
    await nextTick();
    most = Math.max(most, store.reads - reads);
    ticks += 1;
  }
  t.equal((await done).total, LONG_ROWS);
  t.ok(ticks >= LONG_ROWS / WINDOW_ROWS, `${ticks} ticks`);
  t.ok(most < 2 * WINDOW_ROWS, `${most} reads in one tick`);
});

t.test('reads less in a window whose messages are large', async (t) => {
  const store = await storeFor(t);
  const text = 'x'.repeat(1024 * 1024);
  await write(store, (batch) => {
    for (let seq = 1; seq <= 40; seq += 1) {
      const large: Message = { id: `m${seq}`, role: 'user', content: [{ type: 'text', text }] };
      const row = { seq, message: large, created_at: 1, external: seq, bytes: seq * text.length };
      store.messages.append(batch, SCOPE, 't1', [row]);
    }
  });
  const windows = openHistory({ store, scope: SCOPE, thread_id: 't1' }, FIRST.filter).windows;
  const seqs: number[] = [];
  for (let next = windows.next(); !next.done; next = windows.next()) {
    t.ok(next.value.length * text.length <= WINDOW_BYTES, `${next.value.length} messages`);
    seqs.push(...next.value.map(({ seq }) => seq));
  }
  t.strictSame(
    seqs,
    Array.from({ length: 40 }, (_, index) => 40 - index),
  );
});

t.test('omits messages written after the page was requested', async (t) => {
  const { store, page } = await begun(t, { filter: { order: 'desc', visibility: 'external' } });
  await write(store, (batch) => {
    const row = { seq: LONG_ROWS + 1, message: message('late'), created_at: 1, external: LONG_ROWS + 1 };
    store.messages.append(batch, SCOPE, 't1', [row]);
    const cut = { seq: LONG_ROWS, run_id: 'r1', message: message('cut', 'r1'), created_at: 1 };
    store.stopped.put(batch, SCOPE, 't1', cut);
  });
  t.match(await page, { total: LONG_ROWS, seqs: [LONG_ROWS, LONG_ROWS - 1] });
});

t.test('omits the placeholder of a call that was resumed during the pass', async (t) => {
  const store = await storeFor(t);
  const of = { store, scope: SCOPE, thread_id: 't1' };
  const ask: Shape = { kind: 'ask', run: 'r1', calls: ['c1'], text: false };
  const shapes: Shape[] = [...Array<Shape>(50).fill({ kind: 'user', run: 'r2' }), ask];
  await fill(of, {
    shapes: [...shapes, { kind: 'result', run: 'r1', call: 'c1' }],
    rewound: undefined,
    retracted: [],
    stopped: [],
    suspended: [{ run: 'r1', call: 'c1', status: 'suspended' }],
  });
  const request = { filter: { order: 'desc', visibility: 'external' }, limit: 1, windowRows: 1 } as const;
  const expected = await page(of, request);
  t.match(expected.texts[0], /approval-requested/);
  const meanwhile = page(of, request);
  await write(store, (batch) => store.runs.put(batch, SCOPE, run('r1', { status: 'done' }), run('r1')));
  t.strictSame(await meanwhile, expected);
});

t.test('returns an empty page for a thread that is deleted during the pass', async (t) => {
  const { store, page } = await begun(t, MANY_TICKS);
  await write(store, (batch) => store.removals.begin(batch, SCOPE, 't1'));
  t.strictSame(await page, { texts: [], seqs: [], total: 0, has_more: false, has_previous: false });
});

t.test('shows only new messages of a thread that is recreated during the pass', async (t) => {
  const { store, page } = await begun(t, { windowRows: 1 }, 400);
  // Both commits become visible together.
  const removed = write(store, (batch) => store.removals.begin(batch, SCOPE, 't1'));
  const created = write(store, (batch) => {
    for (let seq = 1; seq <= 100; seq += 1) {
      const row = { seq, message: message(`new ${seq}`), created_at: 1, external: seq };
      store.messages.append(batch, SCOPE, 't1', [row]);
    }
  });
  await Promise.all([removed, created]);
  const { texts, total } = await page;
  t.equal(total, 100);
  t.match(texts, [/new 1"/, /new 2"/]);
});

t.test('restarts a page when much of its thread was removed during the pass', async (t) => {
  const { store, page } = await begun(t);
  await write(store, (batch) => {
    for (let seq = 2; seq <= LONG_ROWS; seq += 1)
      store.retractions.put(batch, SCOPE, 't1', { seq, external: true });
  });
  t.match(await page, { total: 1, seqs: [1], has_more: false });
});

t.test('stops reading once the client has closed the connection', async (t) => {
  const gone = new AbortController();
  const { store, page } = await begun(t, { signal: gone.signal });
  const aborted = t.rejects(page, { message: 'the page was aborted' });
  await nextTick();
  gone.abort();
  const { reads } = store;
  await aborted;
  for (let ticks = 0; ticks < 5; ticks += 1) await nextTick();
  t.equal(store.reads, reads);
});
