import t from 'tap';
import { eventsOf, play } from '../../protocols/ag-ui/client.ts';
import { says } from '../agent-loop/agents.ts';
import { framesOf, type Numbered } from '../chat/chat.ts';
import { asks } from '../models.ts';
import { type AgUi, find, RUN, startAgUi, taken, told, typesOf, user } from './ag-ui.ts';

/** A thread in AG-UI: interrupt, history and durable replay (chat-and-agui.md 7, 9, 14, 17). */

const HISTORY = '/v1/ag-ui/threads/T/messages';
const REPLAY = '/v1/ag-ui/threads/T/replay';

t.test('ends the run and drops the queue on interrupt', async (t) => {
  const agUi = await startAgUi(t);
  const unknown = await agUi.post('/v1/ag-ui/threads/T/interrupt');
  t.strictSame([unknown.status, unknown.body], [404, { error: 'thread not found: T' }]);
  const body = { threadId: 'T', agentId: 'slow', messages: [user('u1', 'hi')] };
  const stream = await agUi.open(RUN, body);
  await stream.until('TEXT_MESSAGE_CONTENT');
  await agUi.post('/v1/threads/T/mailbox', { messages: [{ role: 'user', content: 'later' }] });
  const { status, body: accepted } = await agUi.post('/v1/ag-ui/threads/T/interrupt', 'ignored');
  t.equal(status, 202);
  t.strictSame(accepted, { status: 'interrupt_requested', thread_id: 'T', superseded_dispatches: 1 });
  t.match((await stream.rest()).at(-1)?.frame, { result: { status_reason: 'cancelled' } });
  t.equal((await agUi.post('/v1/ag-ui/threads/T/interrupt')).status, 404);
});

/** A history of user, assistant with a call, tool and assistant messages. */
const withCall = async (agUi: AgUi) => {
  agUi.models.steps.push(asks(['c1', 'note', { a: 1 }]), says('noted'));
  await agUi.ask({ threadId: 'T', agentId: 'steps', messages: [user('u1', 'hi')] });
};

t.test('returns content blocks and all data that a client needs to rebuild its messages', async (t) => {
  const agUi = await startAgUi(t);
  await withCall(agUi);
  const page = await agUi.items('T');
  t.match(page, { total: 4, has_more: false, next_cursor: null });
  const [question, call, result, answer] = page.messages;
  t.strictSame(question, { id: 'u1', role: 'user', content: [{ type: 'text', text: 'hi' }] });
  t.match(call, { role: 'assistant', content: [] });
  t.strictSame(call?.toolCalls, [
    { id: 'c1', type: 'function', function: { name: 'note', arguments: '{"a":1}' } },
  ]);
  t.match(result, { role: 'tool', toolCallId: 'c1', content: [{ type: 'text', text: '"did c1"' }] });
  t.match(answer, { role: 'assistant', content: [{ type: 'text', text: 'noted' }] });
});

t.test('returns the history in pages in both directions', async (t) => {
  const agUi = await startAgUi(t);
  await withCall(agUi);
  const all = (await agUi.items('T')).messages;
  const second = await agUi.items('T', '?cursor=1&limit=2');
  t.strictSame(second.messages, all.slice(1, 3));
  t.match(second, { total: 4, has_more: true });
  const last = await agUi.items('T', `?limit=2&cursor=${second.next_cursor}`);
  t.strictSame(last.messages, all.slice(3));
  t.equal(last.has_more, false);
  const back = await agUi.items('T', `?limit=2&cursor=${last.prev_cursor}`);
  t.strictSame(back.messages, second.messages);
  t.strictSame((await agUi.items('T', '?order=desc')).messages, all.toReversed());
  const newest = await agUi.items('T', '?order=desc&limit=3');
  t.strictSame(newest.messages, all.slice(1).reverse());
  t.strictSame((await agUi.items('T', '?after=1&before=3')).messages, all.slice(1, 2));
});

t.test('rejects invalid history queries', async (t) => {
  const agUi = await startAgUi(t);
  await withCall(agUi);
  const errorOf = async (query: string) => {
    const { status, body } = await agUi.call('GET', `${HISTORY}${query}`);
    return [status, body.error];
  };
  t.strictSame(await errorOf('?order=up'), [400, 'order must be asc or desc']);
  t.strictSame(await errorOf('?cursor=garbage'), [400, 'cursor must be a valid pagination token']);
  t.equal((await errorOf('?limit=abc'))[0], 400);
  const { next_cursor } = await agUi.items('T', '?limit=1');
  const foreign = await errorOf(`?cursor=${next_cursor}&order=desc`);
  t.strictSame(foreign, [400, 'cursor does not match message query filters']);
  t.strictSame(await agUi.items('unknown'), {
    messages: [],
    total: 0,
    has_more: false,
    next_cursor: null,
  });
});

t.test('shows internal messages on request', async (t) => {
  const agUi = await startAgUi(t);
  const body = { threadId: 'T', agentId: 'echo', state: { a: 1 } };
  await agUi.ask({ ...body, messages: [user('u1', 'hi')] });
  t.equal((await agUi.items('T')).messages.length, 2);
  t.equal((await agUi.items('T', '?visibility=internal')).messages[0]?.role, 'system');
  t.equal((await agUi.items('T', '?visibility=ALL')).messages.length, 3);
});

t.test('shows no result of a suspended call on any page of the history', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(asks(['c1', 'risky'], ['c2', 'note']));
  await agUi.ask({ threadId: 'T', agentId: 'steps', messages: [user('u1', 'hi')] });
  const roles = async (query = '') => (await agUi.items('T', query)).messages.map(({ role }) => role);
  const waiting = await agUi.items('T');
  t.notMatch(JSON.stringify(waiting), /awaiting decision/);
  t.match(waiting.messages[1]?.toolCalls, [{ id: 'c1' }, { id: 'c2' }]);
  t.strictSame(await roles('?limit=3'), ['user', 'assistant']);

  agUi.models.steps.push(says('done'));
  await agUi.ask({
    threadId: 'T',
    resume: [{ interruptId: 'perm_c1', status: 'resolved', payload: { approved: true } }],
  });
  const after = await agUi.items('T');
  t.strictSame(
    after.messages.filter(({ toolCallId }) => toolCallId === 'c1').map(({ content }) => content[0]?.text),
    ['"did c1"'],
  );
  for (const limit of [1, 2, 3, 4]) {
    for (const order of ['asc', 'desc']) {
      const paged = [];
      for (let query = `?order=${order}&limit=${limit}`; ; ) {
        const { messages, next_cursor } = await agUi.items('T', query);
        paged.push(...messages);
        if (next_cursor === null) break;
        query = `?order=${order}&limit=${limit}&cursor=${next_cursor}`;
      }
      const expected = order === 'asc' ? after.messages : after.messages.toReversed();
      t.strictSame(paged, expected, `${order}, pages of ${limit}`);
    }
  }
});

const replay = async (agUi: AgUi, query = '', headers = {}): Promise<Numbered[]> => {
  const stream = await agUi.follow(`${REPLAY}${query}`, headers);
  t.equal(stream.status, 200);
  return stream.rest();
};

const framesIn = (rows: readonly Numbered[]): string =>
  rows.map(({ frame }) => `data: ${JSON.stringify(frame)}\n\n`).join('');

t.test('replays all runs of a thread identically each time, whatever started them', async (t) => {
  const agUi = await startAgUi(t);
  await withCall(agUi);
  await agUi.say('echo', 'T', { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'chat' }] });
  await agUi.runToEnd({ agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'plain' }] });
  const rows = await replay(agUi);
  t.strictSame(await replay(agUi), rows);
  const types = typesOf(framesOf(rows));
  t.equal(types[0], 'RUN_STARTED');
  t.equal(types.at(-1), 'RUN_FINISHED');
  t.equal(types.filter((type) => type === 'RUN_STARTED').length, 3);
  t.equal(find(framesOf(rows), 'TOOL_CALL_RESULT').toolCallId, 'c1');
  t.ok(rows.every(({ id }) => id !== undefined && !/^\d+$/.test(id)));
  eventsOf(framesIn(rows));
  const { messages, error } = await play(framesIn(rows));
  t.equal(error, undefined);
  t.strictSame(
    messages.map(({ role }) => role),
    ['assistant', 'tool', 'assistant', 'assistant', 'assistant'],
  );
});

t.test('replays the suspension of a run and its continuation', async (t) => {
  const agUi = await startAgUi(t);
  agUi.models.steps.push(asks(['c1', 'risky']), says('done'));
  const body = { threadId: 'T', agentId: 'steps' };
  await agUi.ask({ ...body, messages: [user('u1', 'hi')] });
  await agUi.ask({
    ...body,
    resume: [{ interruptId: 'perm_c1', status: 'resolved', payload: { approved: true } }],
  });
  const events = framesOf(await replay(agUi));
  await taken(events);
  const ends = events.filter(({ type }) => type === 'RUN_FINISHED');
  t.match(ends[0]?.outcome, { interrupts: [{ id: 'perm_c1' }] });
  t.notOk(ends[1]?.outcome);
});

t.test('starts a page behind its cursor, which takes precedence over Last-Event-ID', async (t) => {
  const agUi = await startAgUi(t);
  await withCall(agUi);
  const rows = await replay(agUi);
  const [first, second] = rows.map(({ id }) => id ?? '');
  t.strictSame(await replay(agUi, `?cursor=${first}`), rows.slice(1));
  t.strictSame(await replay(agUi, '', { 'last-event-id': second }), rows.slice(2));
  t.strictSame(await replay(agUi, `?cursor=${first}`, { 'last-event-id': second }), rows.slice(1));
  const paged: Numbered[] = [];
  for (;;) {
    const at = paged.at(-1)?.id;
    const page = await replay(agUi, `?limit=2${at ? `&cursor=${at}` : ''}`);
    if (page.length === 0) break;
    paged.push(...page);
  }
  t.strictSame(paged, rows);
  t.equal((await replay(agUi, '?limit=0')).length, 1);
  t.strictSame(await replay(agUi, '?limit=9999'), rows);
});

t.test('rejects invalid cursors', async (t) => {
  const agUi = await startAgUi(t);
  await withCall(agUi);
  const [row] = await replay(agUi);
  const [chatRow] = await (await agUi.follow('/v1/ai-sdk/threads/T/replay')).rest();
  const ask = async (query: string, thread = 'T') => {
    const { status, body } = await agUi.call('GET', `/v1/ag-ui/threads/${thread}/replay?${query}`);
    return [status, body.error];
  };
  t.strictSame(await ask('cursor=%20'), [400, 'cursor cannot be empty']);
  t.equal((await ask('cursor=garbage'))[0], 400);
  t.equal((await ask('cursor=5'))[0], 400, 'the protocol has no live positions');
  t.equal((await ask('limit=x'))[0], 400);
  t.strictSame(
    await ask(`cursor=${chatRow?.id}`),
    [410, chatRow?.id],
    'a cursor of another protocol is rejected',
  );
  await agUi.ask({ threadId: 'other', agentId: 'echo', messages: [user('u1', 'hi')] });
  t.strictSame(await ask(`cursor=${row?.id}`, 'other'), [410, row?.id]);
  t.strictSame(await (await agUi.follow('/v1/ag-ui/threads/unknown/replay')).rest(), []);
});

t.test('returns 503 for a replay without an event log', async (t) => {
  const agUi = await startAgUi(t, { settings: { event_capture_mode: 'disabled' } });
  await withCall(agUi);
  const { status, body } = await agUi.call('GET', REPLAY);
  t.strictSame([status, body.error], [503, 'protocol replay log is not configured']);
});

t.test('hides the thread of another scope', async (t) => {
  const agUi = await startAgUi(t, {
    app: { resolveScope: (_surface, { header }) => header('x-tenant') ?? 'default' },
  });
  await withCall(agUi);
  const foreign = { 'x-tenant': 'b' };
  t.equal((await agUi.call('GET', HISTORY, undefined, foreign)).body.total, 0);
  t.strictSame(await replay(agUi, '', foreign), []);
  t.equal((await agUi.call('POST', '/v1/ag-ui/threads/T/interrupt', undefined, foreign)).status, 404);
  const stream = await agUi.open(
    RUN,
    { threadId: 'T', agentId: 'echo', messages: [user('u1', 'b')] },
    foreign,
  );
  t.equal((await stream.rest())[0]?.frame.threadId, 'T');
  t.equal(told(await agUi.items('T')).at(-1), 'assistant: noted');
});
