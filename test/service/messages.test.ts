import t from 'tap';
import { startDemo } from './troupe.ts';

/** runtime.md 19, checks 18 to 21. */

const say = (threadId: string, content: string) => ({
  agentId: 'echo',
  threadId,
  messages: [{ role: 'user', content }],
});

type Listed = { id: string; role: string; seq: number };
const seqs = (body: Record<string, unknown>) => (body.messages as Listed[]).map(({ seq }) => seq);

t.test('orders, windows and filters the message list', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  const runs: unknown[] = [];
  for (const text of ['a', 'b', 'c']) runs.push((await runToEnd(say('T', text)))[0]?.run_id);
  const get = async (query: string) => (await call('GET', `/v1/threads/T/messages?${query}`)).body;
  t.strictSame(seqs(await get('')), [1, 2, 3, 4, 5, 6]);
  t.strictSame(seqs(await get('order=DESC')), [6, 5, 4, 3, 2, 1]);
  t.strictSame(seqs(await get('after=1&before=5')), [2, 3, 4]);
  t.match(await get('after=1&before=5'), { total: 3 });
  t.strictSame(seqs(await get(`run_id=${runs[1]}`)), [3, 4]);
  t.strictSame(seqs(await get(`runId=${runs[1]}&after=3`)), [4]);
  t.strictSame(seqs(await get('visibility=internal')), []);
  t.match(await get('visibility=ALL'), { total: 6 });
  t.match(await get('visibility=bogus'), { total: 6 });
  t.match(await get('after=6'), { total: 0, messages: [], has_more: false, next_cursor: null });
});

t.test('rejects invalid queries of the message list with the reason', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  await runToEnd(say('T', 'a'));
  const get = (query: string) => call('GET', `/v1/threads/T/messages?${query}`);
  t.match(await get('order=up'), { status: 400, body: { error: 'order must be asc or desc' } });
  t.match(await get('cursor=zzz'), {
    status: 400,
    body: { error: 'cursor must be a valid pagination token' },
  });
  for (const query of ['after=x', 'before=-1', 'limit=x', 'cursor=1&run_id=x', 'run_id=a&runId=a']) {
    t.equal((await get(query)).status, 400, query);
  }
  const { next_cursor } = (await get('limit=1')).body;
  t.match(await get(`limit=1&order=desc&cursor=${next_cursor}`), {
    status: 400,
    body: { error: 'cursor does not match message query filters' },
  });
  t.match(await call('GET', '/v1/threads/nope/messages'), {
    status: 404,
    body: { error: 'thread not found: nope' },
  });
});

t.test('returns the whole list page by page in both directions', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  for (const text of ['a', 'b', 'c']) await runToEnd(say('T', text));
  for (const order of ['asc', 'desc']) {
    const whole = seqs((await call('GET', `/v1/threads/T/messages?order=${order}`)).body);
    const walked: number[] = [];
    let page = (await call('GET', `/v1/threads/T/messages?order=${order}&limit=1`)).body;
    t.notOk('prev_cursor' in page);
    for (;;) {
      walked.push(...seqs(page));
      if (page.next_cursor === null) break;
      page = (await call('GET', `/v1/threads/T/messages?order=${order}&limit=1&cursor=${page.next_cursor}`))
        .body;
      t.equal(page.total, 6);
    }
    t.strictSame(walked, whole);
    const back: number[] = [];
    while (typeof page.prev_cursor === 'string') {
      page = (await call('GET', `/v1/threads/T/messages?order=${order}&limit=1&cursor=${page.prev_cursor}`))
        .body;
      back.unshift(...seqs(page));
    }
    t.strictSame([...back, whole.at(-1)], whole);
  }
  t.strictSame(seqs((await call('GET', '/v1/threads/T/messages?cursor=1')).body), [2, 3, 4, 5, 6]);
});

t.test('hides a call without a result but not its message', async (t) => {
  const { call, run, models } = await startDemo(t);
  models.steps.push((sink) => {
    sink.text('let me look');
    sink.toolStart('c1', 'progress_demo');
    sink.toolEnd('c1', '{"scenario":"slow_build"}');
    return { stop: 'ToolUse' };
  });
  const stream = await run({ ...say('T', 'x'), agentId: 'steps' });
  await stream.until('activity_snapshot');
  const replaced = await run(say('T', 'y'));
  await replaced.rest();
  t.match((await stream.rest()).at(-1), { termination: { type: 'cancelled' } });
  const { messages } = (await call('GET', '/v1/threads/T/messages')).body as { messages: object[] };
  t.match(messages[1], { role: 'assistant', content: [{ text: 'let me look' }] });
  t.notOk(messages[1] && 'tool_calls' in messages[1]);
  const asked = models.requests.at(-1)?.request.messages;
  t.match(
    asked?.find((message) => message.tool_call_id === 'c1'),
    { content: [{ text: '[Tool execution was interrupted]' }] },
    'the model receives the interruption as the result',
  );
});
