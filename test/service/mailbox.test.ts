import t from 'tap';
import { textOf } from '../../src/schema/message.ts';
import { startDemo } from './troupe.ts';
import { viewOf } from './view.ts';

/** The mailbox: runtime.md 2.8, 10 and 19, checks 42 to 44. Priority, delay and keys: test/runtime/mailbox.test.ts. */

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const start = (agentId: string) => ({
  agentId,
  threadId: 'T',
  messages: [{ role: 'user', content: 'Hello' }],
});

t.test('creates the thread of pushed work, and takes the text from the payload', async (t) => {
  const troupe = await startDemo(t);
  const texts: [payload: unknown, text: string][] = [
    [{ text: 'hi' }, 'hi'],
    [{ text: 'hi', a: 1 }, 'hi'],
    [{ text: '' }, '{"text":""}'],
    [{ text: 5 }, '{"text":5}'],
    [{ a: 1 }, '{"a":1}'],
    [['x', null], '["x",null]'],
    ['x', '"x"'],
    [0, '0'],
    [null, 'null'],
    [undefined, 'null'],
  ];
  for (const [index, [payload, text]] of texts.entries()) {
    const view = viewOf(troupe, `new ${index}`);
    const { status, body } = await view.post('/mailbox', payload === undefined ? {} : { payload });
    t.equal(status, 201);
    t.match(body, { dispatch_id: UUID_V7, run_id: UUID_V7, thread_id: `new ${index}` });
    t.equal(Object.keys(body).length, 3);
    await view.until(body.run_id, 'done');
    const [first] = await view.messages();
    t.match(first, { role: 'user', metadata: { run_id: body.run_id } });
    t.equal(textOf(first?.content ?? []), text);
    t.equal((await view.kinds())[0], 'ThreadCreated');
    await view.check(t);
  }
});

t.test('keeps every key of a payload, including names of built-in properties', async (t) => {
  const troupe = await startDemo(t);
  const view = viewOf(troupe, 'T');
  const payload = '{"__proto__":[1],"a":{"__proto__":{"polluted":true},"constructor":2}}';
  const { status, body } = await troupe.call('POST', '/v1/threads/T/mailbox', `{"payload":${payload}}`);
  t.equal(status, 201);
  await view.until(body.run_id, 'done');
  const [first] = await view.messages();
  t.equal(textOf(first?.content ?? []), payload);
  t.equal(Reflect.get({}, 'polluted'), undefined);
  await view.check(t);
});

t.test('creates a dispatch for each push, also for concurrent pushes to a new thread', async (t) => {
  const troupe = await startDemo(t);
  const view = viewOf(troupe, 'T');
  const pushes = await Promise.all(
    Array.from({ length: 10 }, (_, index) => view.post('/mailbox', { payload: { text: `${index}` } })),
  );
  for (const { status } of pushes) t.equal(status, 201);
  t.equal(new Set(pushes.map(({ body }) => body.dispatch_id)).size, 10);
  t.equal(new Set(pushes.map(({ body }) => body.run_id)).size, 10);
  await view.check(t);
  t.equal((await view.runs()).length, 10);
  t.equal((await view.kinds()).filter((kind) => kind === 'ThreadCreated').length, 1);
});

t.test('assigns pushed work to the last agent of its thread', async (t) => {
  const troupe = await startDemo(t);
  await troupe.runToEnd(start('echo'));
  const view = viewOf(troupe, 'T');
  const { body } = await view.post('/mailbox', { payload: { text: 'pushed' } });
  t.match(await view.until(body.run_id, 'done'), { agent_id: 'echo', final_output: 'echo: pushed' });
});

t.test('rejects invalid pushes', async (t) => {
  const { post, call } = await startDemo(t);
  t.equal((await call('POST', '/v1/threads/T/mailbox', '{')).status, 400);
  t.equal((await post('/v1/threads/T/mailbox', [1])).status, 422);
  for (const id of ['a%2Fb', '..%5C', 'x%00']) {
    t.equal((await post(`/v1/threads/${id}/mailbox`, {})).status, 400, id);
  }
  t.equal((await call('GET', '/v1/threads')).body.total, 0);
});

t.test('lists a dispatch with all its keys, but without its token', async (t) => {
  const troupe = await startDemo(t);
  t.strictSame((await troupe.call('GET', '/v1/threads/unknown/mailbox')).body, { items: [] });
  const stream = await troupe.run(start('slow'));
  await stream.until('text_delta');
  const view = viewOf(troupe, 'T');
  const { body } = await view.say('next', { agentId: 'echo' });
  const { items } = (await troupe.call('GET', '/v1/threads/T/mailbox')).body as { items: object[] };
  const [claimed, queued] = items;
  t.match(claimed, {
    status: 'Claimed',
    claimed_by: /./,
    lease_until: Number,
    run_status: 'running',
    dispatch_instance_id: UUID_V7,
  });
  t.match(claimed, { claim_token: null });
  const { created_at } = await view.dispatches().then(([, second]) => second ?? { created_at: 0 });
  t.ok(created_at > 1e12, 'milliseconds');
  t.strictSame(queued, {
    dispatch_id: body.dispatch_id,
    thread_id: 'T',
    run_id: body.accepted_run_id,
    priority: 128,
    dedupe_key: null,
    dispatch_epoch: 1,
    status: 'Queued',
    available_at: created_at,
    attempt_count: 0,
    max_attempts: 5,
    last_error: null,
    claim_token: null,
    claimed_by: null,
    lease_until: null,
    created_at,
    updated_at: created_at,
  });
  t.strictSame((await troupe.call('GET', '/v1/threads/T/mailbox?limit=1')).body, { items: [claimed] });
  t.strictSame((await troupe.call('GET', '/v1/threads/T/mailbox?limit=1&offset=1')).body, {
    items: [queued],
  });
  t.strictSame((await troupe.call('GET', '/v1/threads/T/mailbox?offset=2')).body, { items: [] });
  t.strictSame((await troupe.call('GET', '/v1/threads/T/mailbox?limit=0')).body, { items: [claimed] });
  t.equal((await troupe.call('GET', '/v1/threads/T/mailbox?limit=-1')).status, 400);

  troupe.models.release();
  await stream.rest();
  await view.until(body.accepted_run_id, 'done');
  await view.check(t);
});

t.test('reports the result of the run of a consumed dispatch', async (t) => {
  const troupe = await startDemo(t);
  await troupe.runToEnd(start('echo'));
  const view = viewOf(troupe, 'T');
  const [dispatch] = await view.dispatches();
  t.match(dispatch, {
    status: 'Acked',
    run_status: 'done',
    termination: { type: 'natural_end' },
    run_response: 'echo: Hello',
    claim_token: null,
    claimed_by: null,
    lease_until: null,
    last_error: null,
  });
  t.ok(Number(dispatch?.completed_at) >= Number(dispatch?.created_at));
  await troupe.runToEnd(start('stopper'));
  t.match((await view.dispatches())[1], { status: 'Acked', run_status: 'done' });
});
