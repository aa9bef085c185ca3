import t, { type Test } from 'tap';
import { each } from '../../src/console/data/each.ts';
import type { Identity } from '../../src/console/data/principal.ts';
import { setBackend } from '../../src/console/data/request.ts';
import { countBefore, readBack } from '../../src/console/fork/fork.ts';
import { newestRuns } from '../../src/console/run-records/pages.ts';
import { durationOf, Run } from '../../src/console/run-records/run.ts';
import { waitingRuns } from '../../src/console/run-records/waiting.ts';
import { spansOfTrace } from '../../src/console/run-view/trace-spans.ts';
import { decisionOf } from '../../src/console/screens/inbox/decisions.ts';
import { rightsOn } from '../../src/console/screens/inbox/rights.ts';
import {
  alike,
  asksFor,
  canEdit,
  grouped,
  isAskedAgain,
  isLate,
  type Open,
  openTickets,
  wishOf,
} from '../../src/console/screens/inbox/tickets.ts';
import { isView, viewsIn } from '../../src/console/screens/runs/views.ts';
import { treeOf } from '../../src/console/screens/threads/fork-tree.ts';
import {
  currentOf,
  forksOf,
  lanesOf,
  mailboxOf,
  Summary,
  Thread,
} from '../../src/console/screens/threads/thread.ts';
import { MOST_HELD, NOTHING, withNewer, withOlder } from '../../src/console/screens/threads/window.ts';
import { Message, MOST_MESSAGES, messagesOf } from '../../src/console/thread-messages/messages.ts';
import { traceEvents } from '../../src/console/trace-records/traces.ts';
import { digestOfCall, digestOfTickets } from '../../src/schema/call-digest.ts';

/** Logic of the live screens: reading and updating of long lists. */

setBackend('http://service');

/** Replaces `fetch`. @returns the requested paths in order */
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

t.test('reads the newest runs first, in as many pages as are needed', async (t) => {
  let total = 0;
  const asked = answering(t, (url) => {
    const [from, limit] = [number(url, 'cursor', 0), number(url, 'limit', 0)];
    const end = Math.min(total, from + limit);
    const items = range(from, end).map((at) => run(total - 1 - at));
    return Response.json({ items, total, next_cursor: end < total ? String(end) : null });
  });
  const read = async (of: number, most: number) => {
    total = of;
    asked.length = 0;
    const resource = newestRuns({ status: 'running' }, most);
    return resource.guard(await resource.read?.(signal), '');
  };
  for (const [of, most, requests] of [
    [0, 1000, 1],
    [200, 1000, 1],
    [450, 1000, 3],
    [450, 1, 1],
    [1234, 400, 2],
  ] as const) {
    const found = await read(of, most);
    const expected = range(Math.max(0, of - most), of).reverse();
    t.strictSame(ids(found.items), ids(expected.map((at) => run(at))));
    t.equal(found.total, of);
    t.equal(asked.length, requests, `${most} of ${of}`);
  }
  t.equal(asked[0], '/v1/runs?status=running&sort=-created&limit=200');
});

t.test('runs five requests at a time and continues after a failure', async (t) => {
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
      // Deferred, so that all concurrent calls have started by then.
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

t.test('measures an open run until now and an ended one until its end', async (t) => {
  t.equal(durationOf(run(10), 15_500), 5.5);
  t.equal(durationOf(run(10, { status: 'done', started_at: 12, finished_at: 15 }), 99_000), 3);
  const exact = {
    status: 'done',
    started_at: 12,
    started_at_ms: 12_400,
    finished_at: 15,
    finished_at_ms: 15_650,
  };
  t.equal(durationOf(run(10, exact), 99_000), 3.25);
  t.equal(durationOf(run(10), 1000), 0, 'the duration is not negative if clocks differ');
});

t.test('reads only valid stored views and compares them with the address', async (t) => {
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

t.test('sorts tickets by waiting time and groups permission requests of one tool', async (t) => {
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
  const [search = [], write = []] = grouped(open, 'tool').map(({ tickets }) => tickets);
  t.strictSame(
    alike(search).map(({ key }) => key),
    ['r1 perm_first', 'r1 perm_late'],
    'questions are never decided together',
  );
  t.strictSame(alike(write), [], 'a single call has no group');
  t.strictSame(alike(open), [], 'calls of different tools are never decided together');
  t.strictSame(grouped(open, 'agent').length, 1);
  const [oldest] = open;
  t.ok(oldest && isLate(oldest, 50 + 300_001) && !isLate(oldest, 50 + 300_000));
});

t.test('sends the digest of what is shown, not the one that the service reports', async (t) => {
  const args = { q: 'x', note: 'token=x', secret_note: 'y\u200b' };
  const [open] = openTickets([waits(1, ticket('a', 1, { arguments: args, digest: 'of another call' }))]);
  if (!open) throw new Error('there is no ticket');
  const shown = digestOfCall({ tool: 'search', arguments: args });
  t.match(decisionOf({ do: 'approve' }, open), { digest: shown, payload: { approved: true } });
  t.match(decisionOf({ do: 'deny', reason: '' }, open), { digest: shown, action: 'cancel' });
  t.match(decisionOf({ do: 'answer', value: 1 }, open), { digest: shown, payload: 1 });
  const edited = { q: 'y' };
  t.match(decisionOf({ do: 'approve', arguments: edited }, open), {
    action: 'resume',
    digest: digestOfCall({ tool: 'search', arguments: edited }),
    payload: { approved: true, arguments: edited },
  });
  t.equal(canEdit(open.ticket), true);
  const call = { tool: 'write', arguments: { to: 'Ada' } };
  const below = {
    ...call,
    ...{ id: 'b', agent_id: 'w', run_id: 'r', resume_mode: 'replay_tool_call' as const },
    deciders: undefined,
  };
  const delegated = { ...open.ticket, tickets: [{ ...below, digest: 'of another call' }] };
  t.equal(canEdit(delegated), false, 'the arguments belong to the call of a delegate');
  t.equal(
    decisionOf({ do: 'approve' }, { ticket: delegated }).digest,
    digestOfTickets([{ ...below, digest: digestOfCall(call) }]),
  );
});

t.test('names why a principal may not decide', async (t) => {
  const who = (grants: string[], user?: string): Identity => ({
    ...{ authenticated: true, anonymous: false, scope: 'acme', user, name: undefined, grants },
    ...{ credential: undefined, identity_changed: undefined, sign_in: [] },
  });
  const open = (more: object): Open => {
    const [only] = openTickets([{ ...waits(1, ticket('a', 1, more)), user: 'alice' }]);
    if (!only) throw new Error('there is no ticket');
    return { ...only, agentId: 'support' };
  };
  const nothing = { approve: undefined, deny: undefined };
  t.strictSame(rightsOn(open({}), who(['invoke'], 'alice')), {
    approve: { tool: 'search', needs: 'decide:support/search' },
    deny: { tool: 'search', needs: 'decide:support/search' },
    edits: true,
  });
  t.strictSame(rightsOn(open({}), who(['decide:support/s*'], 'bob')), { ...nothing, edits: false });
  t.strictSame(rightsOn(open({}), who(['admin'])), { ...nothing, edits: true });
  t.strictSame(rightsOn(open({}), undefined), { ...nothing, edits: true });
  const others = { tool: 'search', notBy: 'alice' };
  t.match(rightsOn(open({ deciders: 'others' }), who(['admin'], 'alice')), { approve: others, deny: others });
  t.match(rightsOn(open({ deciders: 'others' }), who(['approver'], 'bob')), nothing);
  const question = open({ resume_mode: 'use_decision_as_tool_result' });
  t.match(rightsOn(question, who(['member', 'write:all'], 'bob')), {
    approve: { tool: 'search', by: 'alice' },
    deny: undefined,
  });
  t.match(rightsOn(question, who(['member'], 'alice')), nothing);
  const budget = open({ reason: 'budget:exceeded', resume_mode: 'pass_decision_to_tool' });
  t.match(rightsOn(budget, who(['member'], 'alice')), { approve: { needs: 'configure:budgets' } });
  t.match(rightsOn(budget, who(['configure:budgets'], 'bob')), nothing);
  const limit = { budget: 'b', unit: 'usd', spent: 1, limit: 1 };
  const ofDelegate = open({
    reason: 'agent_delegate:budget_exceeded',
    resume_mode: 'use_decision_as_tool_result',
    tickets: [
      {
        ...{ id: 'budget_1', tool: 'budget', arguments: limit, agent_id: 'mailer' },
        ...{ resume_mode: 'pass_decision_to_tool', reason: 'budget:exceeded' },
      },
    ],
  });
  t.equal(asksFor(ofDelegate.ticket), 'budget');
  t.match(rightsOn(ofDelegate, who(['member'], 'alice')), { approve: { needs: 'configure:budgets' } });
  const account = open({ reason: 'mcp:auth_required' });
  t.match(rightsOn(account, who(['member'], 'alice')), nothing);
  t.match(
    rightsOn(account, who(['admin'])),
    { approve: { by: 'alice' } },
    'an account is connected by its user only',
  );
  const below = { id: 'b', tool: 'send', arguments: {}, agent_id: 'mailer', resume_mode: 'replay_tool_call' };
  t.match(rightsOn(open({ tickets: [below] }), who(['decide:support/*'], 'bob')), {
    approve: { tool: 'send', needs: 'decide:mailer/send' },
  });
});

t.test('marks a call that a run requests again after a decision', async (t) => {
  const [first, second, other] = openTickets([
    waits(1, ticket('first', 1), ticket('second', 2)),
    waits(2, ticket('other', 3)),
  ]);
  if (!first || !second || !other) throw new Error('tickets are missing');
  t.equal(isAskedAgain(second, [{ open: first }]), true);
  t.equal(isAskedAgain(first, [{ open: first }]), false);
  t.equal(isAskedAgain(other, [{ open: first }]), false);
});

t.test('reads a decision according to the kind of request', async (t) => {
  t.equal(asksFor({ resume_mode: 'pass_decision_to_tool' }), 'arguments');
  t.equal(asksFor({ resume_mode: 'of some day' }), 'permission');
  t.strictSame(wishOf('{"a":1}', false), { do: 'answer', value: { a: 1 } });
  t.strictSame(wishOf('On Monday', false), { do: 'answer', value: 'On Monday' });
  t.strictSame(wishOf('null', false), { do: 'answer', value: null });
  t.equal(wishOf('  ', false), undefined);
  t.strictSame(wishOf(' no ', true), { do: 'deny', reason: 'no' });
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

t.test('keeps a contiguous and limited part of a long conversation', async (t) => {
  let held = withOlder(NOTHING, messages(9901, 10_001).reverse(), true);
  t.strictSame(seqs(held.messages), range(9901, 10_001));
  t.match(held, { hasOlder: true, hasNewer: false });
  held = withNewer(held, [message(10_000), message(10_001)], false);
  t.equal(held.messages.length, 101, 'each message is kept once');
  for (let before = 9901; held.messages.length < MOST_HELD; before -= 100) {
    held = withOlder(held, messages(before - 100, before), true);
  }
  t.equal(held.messages.length, MOST_HELD);
  t.equal(held.hasNewer, true, 'the newest messages are released');
  const first = held.messages[0]?.seq ?? 0;
  t.strictSame(seqs(held.messages), range(first, first + MOST_HELD));
  held = withNewer(held, messages(first + MOST_HELD, first + MOST_HELD + 50), false);
  t.match(held, { hasOlder: true, hasNewer: false });
  t.strictSame(seqs(held.messages), range(first + 50, first + MOST_HELD + 50));
  t.match(withOlder(NOTHING, messages(1, 3), false), { hasOlder: false });
});

t.test('finds the newest user message before a point, page by page', async (t) => {
  const asked = answering(t, (url) => {
    const before = number(url, 'before', 0);
    const limit = number(url, 'limit', 0);
    const all = messages(Math.max(1, before - limit), before).reverse();
    const found = all.map((each) => ({ ...each, role: each.seq === 3 ? 'user' : 'assistant' }));
    return Response.json({ messages: found, has_more: before - limit > 1, total: before - 1 });
  });
  const isUser = ({ role }: { role: string }) => role === 'user';
  t.equal((await readBack('t', isUser, 450))?.seq, 3);
  t.equal(asked.length, 3);
  t.equal(await readBack('t', isUser, 3), undefined);
  t.equal(await countBefore('t', 3), 2);
});

t.test('reads the oldest waiting runs page by page', async (t) => {
  const asked = answering(t, (url) => {
    const [offset, limit] = [number(url, 'offset', 0), number(url, 'limit', 0)];
    const items = range(offset, Math.min(450, offset + limit)).map((at) => run(at));
    return Response.json({ items, total: 450 });
  });
  const read = async (pages: number) => {
    asked.length = 0;
    const resource = waitingRuns(pages, undefined);
    return resource.guard(await resource.read?.(signal), '');
  };
  t.match(await read(1), { items: { length: 200 }, total: 450 });
  t.equal(asked.length, 1);
  t.match(await read(3), { items: { length: 450 }, total: 450 });
  t.match(await read(9), { items: { length: 450 } });
  t.equal(asked.length, 3, 'a page that is not full is the last one');
});

t.test('reads messages page by page up to a limit', async (t) => {
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

t.test('reads the whole mailbox and assigns dispatches to lanes', async (t) => {
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

t.test('selects the running, then the waiting, then the newest run of a thread', async (t) => {
  const [queued, waits, runs, done] = ['created', 'waiting', 'running', 'done'].map((status) => ({ status }));
  t.ok(queued && waits && runs && done);
  if (!queued || !waits || !runs || !done) return;
  t.equal(currentOf([queued, waits, runs, done]), runs);
  t.equal(currentOf([queued, waits, done]), waits);
  t.equal(currentOf([done, queued]), done);
  t.equal(currentOf([]), undefined);
});

t.test(
  'reads the ancestors of a thread up to a limit, its children and the others of its chat',
  async (t) => {
    answering(t, (url) => {
      const { searchParams: query, pathname } = url;
      if (pathname.endsWith('/summaries')) {
        const parent_thread_id = query.get('parent_thread_id');
        const id = parent_thread_id === null ? 'other' : 'child';
        return Response.json({ items: [{ id, parent_thread_id, preview: 'Hi' }], total: 1 });
      }
      const at = Number(pathname.split('/').at(-1));
      return Response.json({ id: `${at}`, ...(at !== 3 && { parent_thread_id: `${at + 1}` }) });
    });
    const found = async (given: { parent_thread_id?: string; resource_id?: string }) => {
      const resource = forksOf(Thread({ id: 'own', ...given }, ''));
      return treeOf(resource.guard(await resource.read?.(signal), '')).map(
        ({ thread: { id }, depth }) => `${depth} ${id}`,
      );
    };
    t.strictSame(await found({}), ['0 own', '1 child']);
    t.strictSame(
      await found({ parent_thread_id: '1', resource_id: 'chat' }),
      ['0 3', '1 2', '2 1', '3 own', '4 child', '0 other'],
      'the topmost ancestor is first',
    );
    t.equal((await found({ parent_thread_id: '4' })).length, 22);
  },
);

t.test('places forks in their order, and ends a cycle', async (t) => {
  const fork = (id: string, seq: number, parent_thread_id?: string) =>
    Summary({ id, parent_thread_id, forked_from: { seq }, updated_at: 1 }, '');
  const ids = (...threads: ReturnType<typeof fork>[]) => treeOf(threads).map(({ thread: { id } }) => id);
  t.strictSame(ids(fork('c', 6, 'a'), fork('b', 2, 'a'), fork('a', 0)), ['a', 'b', 'c']);
  t.strictSame(ids(fork('a', 0, 'b'), fork('b', 0, 'a'), fork('c', 0)), ['c']);
});

t.test('reads a trace of any length', async (t) => {
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
  t.match(
    spansOfTrace(long),
    [{ kind: 'run', from: 1000, to: 201_004 }],
    'the trace has more spans than a call accepts arguments',
  );
  t.strictSame(spansOfTrace([]), []);
});
