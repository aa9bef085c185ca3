import t from 'tap';
import { textOf } from '../../src/schema/message.ts';
import { planeOf } from './config/plane.ts';
import { asks } from './models.ts';
import { patchAgent } from './patch-agent.ts';
import { createTestTools } from './tools.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';
import { viewOf } from './view.ts';

/** Input without a stream: runtime.md 19, checks 16 to 18, 34, 37, 39 and 40. Steered input: steer.test.ts. */

const messages = [{ role: 'user', content: 'Hello' }];

const newThread = async ({ post }: Troupe): Promise<string> =>
  String((await post('/v1/threads', {})).body.id);

/** User messages in the prompt of each request. */
const asked = ({ models }: Troupe, model: string): string[][] =>
  models.requests
    .filter((each) => each.model === model)
    .map(({ request }) =>
      request.messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content)),
    );

t.test('rejects invalid input and stores nothing of it', async (t) => {
  const troupe = await startTroupe(t);
  const { post } = troupe;
  t.match(await post('/v1/threads/x/messages', { messages }), {
    status: 404,
    body: { error: 'thread not found: x' },
  });
  t.equal(
    (await post('/v1/threads/x/messages', {})).status,
    404,
    'the thread is looked up before the body is checked',
  );
  const thread = await newThread(troupe);
  const view = viewOf(troupe, thread);
  for (const none of [{ messages: [] }, {}, { messages: [{ role: 'tool', content: 'x' }] }]) {
    t.match(await view.post('/messages', none), {
      status: 400,
      body: { error: 'at least one message is required' },
    });
  }
  for (const bad of [
    { messages: [{ role: 'user', content: [{ type: 'x' }] }] },
    { messages, mode: 'later' },
    { messages, mode: null },
    { messages: null },
    { messages: [{ role: 'user' }] },
    { messages, agentId: 'echo', agent_id: 'echo' },
  ]) {
    t.equal((await view.post('/messages', bad)).status, 422, JSON.stringify(bad));
  }
  t.match(await view.say('x', { agentId: 'x' }), { status: 400, body: { error: 'agent not found: x' } });
  t.strictSame(await view.messages(), []);
  t.strictSame(await view.runs(), []);
  t.strictSame(await view.dispatches(), []);
});

t.test('does not disturb the executing run when it rejects input', async (t) => {
  const troupe = await startTroupe(t);
  const stream = await troupe.run({ agentId: 'slow', threadId: 'T', messages });
  await stream.until('text_delta');
  const view = viewOf(troupe, 'T');
  for (const mode of ['queue', 'steer', 'interrupt_then_queue', 'resume_open_run']) {
    t.equal((await view.say('x', { mode, agentId: 'nope' })).status, 400, mode);
    t.equal((await view.post('/messages', { mode, messages: [] })).status, 400, mode);
  }
  t.equal(troupe.models.waiting(), 1);
  troupe.models.release();
  t.match((await stream.rest()).at(-1), { termination: { type: 'natural_end' } });
  t.strictSame(await view.texts(), ['user: Hello', 'assistant: partial answer']);
});

t.test('executes accepted input and stores the completion', async (t) => {
  const troupe = await startTroupe(t);
  const view = viewOf(troupe, await newThread(troupe));
  const { status, body } = await view.say('Hello', { agentId: 'echo' });
  t.equal(status, 202);
  const { id } = await view.thread();
  t.match(body, { thread_id: id, status: /^(running|queued)$/ });
  const run = await view.until(body.accepted_run_id, 'done');
  t.match(await view.messages(), [
    { role: 'user', seq: 1, content: [{ text: 'Hello' }], metadata: { run_id: run.run_id } },
    { role: 'assistant', seq: 2, metadata: { run_id: run.run_id, step_index: 0 } },
  ]);
  t.match(await view.dispatches(), [{ dispatch_id: body.dispatch_id, run_id: run.run_id, status: 'Acked' }]);
  await view.check(t);
});

t.test('stores messages of allowed roles in their order and drops the others', async (t) => {
  const troupe = await startTroupe(t);
  await patchAgent(t, troupe, 'echo', { client_system_messages: true });
  const view = viewOf(troupe, await newThread(troupe));
  const roles = ['system', 'assistant', 'user', 'tool', 'User', 'user'];
  const sent = roles.map((role, index) => ({ role, content: `${index}` }));
  t.equal((await view.post('/messages', { agentId: 'echo', messages: sent })).status, 202);
  await view.rest();
  t.strictSame(await view.texts(), ['system: 0', 'assistant: 1', 'user: 2', 'user: 5', 'assistant: echo: 5']);
});

t.test('uses the named agent, then the last agent of the thread, then the default agent', async (t) => {
  const troupe = await startTroupe(t);
  const view = viewOf(troupe, await newThread(troupe));
  for (const agentId of [undefined, 'echo', ' ', null]) {
    t.equal((await view.say('x', { agentId })).status, 202);
    await view.rest();
  }
  t.strictSame(
    (await view.runs()).map(({ agent_id }) => agent_id),
    ['default', 'echo', 'echo', 'echo'],
  );
});

t.test('uses the default agent when the last agent of a thread was deleted', async (t) => {
  const troupe = await startTroupe(t);
  const plane = planeOf(troupe);
  await plane.post('/v1/config/agents', { id: 'brief', model_id: 'echo' });
  const view = viewOf(troupe, await newThread(troupe));
  for (const gone of [false, true]) {
    if (gone) await plane.del('/v1/config/agents/brief');
    t.equal((await view.say('x', gone ? {} : { agentId: 'brief' })).status, 202);
    await view.rest();
  }
  t.equal((await view.post('/mailbox', { payload: 1 })).status, 201);
  await view.rest();
  t.strictSame(
    (await view.runs()).map(({ agent_id }) => agent_id),
    ['brief', 'default', 'default'],
  );
});

t.test('does not recreate a deleted thread for input to one of its runs', async (t) => {
  const troupe = await startTroupe(t);
  const id = await newThread(troupe);
  const view = viewOf(troupe, id);
  const { body } = await view.say('x', { agentId: 'echo' });
  await view.rest();
  await troupe.call('DELETE', `/v1/threads/${id}`);
  for (const mode of ['queue', 'live_then_queue', 'interrupt_then_queue', 'resume_open_run']) {
    const answer = await troupe.post(`/v1/runs/${body.accepted_run_id}/inputs`, {
      mode,
      messages: [{ role: 'user', content: 'back' }],
    });
    t.equal(answer.status, 404, mode);
  }
  t.equal((await troupe.call('GET', `/v1/threads/${id}`)).status, 404);
});

t.test('stores long and unusual texts unchanged', async (t) => {
  const troupe = await startTroupe(t);
  const view = viewOf(troupe, await newThread(troupe));
  const controls = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join('');
  const texts = [
    'x'.repeat(10_000),
    `${controls}\u007f\u0085\u2028\u2029`,
    'ä😀\u{1F469}\u200D\u{1F4BB} \\ " \ufeff',
  ];
  for (const text of texts) {
    t.equal((await view.say(text, { agentId: 'echo' })).status, 202);
    await view.rest();
  }
  const stored = (await view.messages()).filter(({ role }) => role === 'user');
  t.strictSame(
    stored.map(({ content }) => textOf(content)),
    texts,
  );
});

t.test('starts a new run on the same thread and agent for input to a finished run', async (t) => {
  const troupe = await startTroupe(t);
  const { post } = troupe;
  const [start] = await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages });
  const view = viewOf(troupe, 'T');
  for (const mode of ['queue', 'live_then_queue']) {
    const { status, body } = await post(`/v1/runs/${start?.run_id}/inputs`, { mode, messages });
    t.equal(status, 202);
    t.match(body, { status: 'inputs_accepted', run_id: start?.run_id });
    t.not(body.accepted_run_id, start?.run_id);
    const { agent_id, thread_id } = await view.until(body.accepted_run_id, 'done');
    t.strictSame({ agent_id, thread_id }, { agent_id: 'echo', thread_id: 'T' });
  }
  t.match(await post('/v1/runs/x/inputs', { messages }), {
    status: 404,
    body: { error: 'run not found: x' },
  });
  for (const path of ['/v1/runs/x/inputs', `/v1/runs/${start?.run_id}/inputs`]) {
    t.match(await post(path, { messages: [] }), {
      status: 400,
      body: { error: 'at least one message is required' },
    });
  }
  await view.check(t);
});

t.test('executes queued input in order, one at a time, hidden from the executing run', async (t) => {
  const troupe = await startTroupe(t);
  const stream = await troupe.run({ agentId: 'slow', threadId: 'T', messages });
  await stream.until('text_delta');
  const view = viewOf(troupe, 'T');
  const queued: unknown[] = [];
  for (const text of ['one', 'two', 'three']) {
    const { status, body } = await view.say(text);
    t.equal(status, 202);
    t.match(body, { status: 'queued', thread_id: 'T' });
    queued.push(body.accepted_run_id);
  }
  t.equal(new Set(queued).size, 3);
  t.match(await view.dispatches(), [
    { status: 'Claimed' },
    { status: 'Queued' },
    { status: 'Queued' },
    { status: 'Queued' },
  ]);
  t.strictSame(await view.texts(), ['user: Hello'], 'staged input is not in the history');
  t.match(await view.active(), { agent_id: 'slow', status: 'running' });

  for (let executed = 1; executed <= 4; executed += 1) {
    await eventually(
      async () => troupe.models.requests.length,
      (count) => count === executed,
    );
    t.equal(troupe.models.waiting(), 1, 'one run executes at a time');
    troupe.models.release();
  }
  await view.check(t);
  t.strictSame(asked(troupe, 'slow'), [
    ['Hello'],
    ['Hello', 'one'],
    ['Hello', 'one', 'two'],
    ['Hello', 'one', 'two', 'three'],
  ]);
  t.strictSame(
    (await view.runs()).slice(1).map(({ run_id }) => run_id),
    queued,
  );
  const users = (await view.messages()).filter(({ role }) => role === 'user').slice(1);
  t.strictSame(
    users.map(({ metadata }) => metadata?.run_id),
    queued,
  );
});

t.test('executes concurrent queued input once each', async (t) => {
  const troupe = await startTroupe(t);
  const view = viewOf(troupe, await newThread(troupe));
  const texts = Array.from({ length: 30 }, (_, index) => `text ${index}`);
  const answers = await Promise.all(texts.map((text) => view.say(text, { agentId: 'echo' })));
  t.ok(answers.every(({ status }) => status === 202));
  t.equal(new Set(answers.map(({ body }) => body.accepted_run_id)).size, 30);
  await view.check(t);
  const history = await view.texts();
  t.equal(history.length, 60);
  for (let index = 0; index < history.length; index += 2) {
    t.equal(history[index + 1], history[index]?.replace('user: ', 'assistant: echo: '));
  }
});

t.test('cancels the executing run and queues a new one on interrupt_then_queue', async (t) => {
  const troupe = await startTroupe(t);
  const stream = await troupe.run({ agentId: 'slow', threadId: 'T', messages });
  const { run_id } = await stream.until('run_start');
  await stream.until('text_delta');
  const view = viewOf(troupe, 'T');
  const before = await view.say('dropped');
  const { status, body } = await view.say('next', { mode: 'interrupt_then_queue', agentId: 'echo' });
  t.equal(status, 202);
  t.not(body.accepted_run_id, run_id);
  t.match((await stream.rest()).at(-1), { event_type: 'run_finish', termination: { type: 'cancelled' } });
  await view.check(t);
  t.match(await view.run(run_id), { status: 'done', termination_reason: { type: 'cancelled' } });
  t.match(await view.run(before.body.accepted_run_id), { termination_reason: { type: 'cancelled' } });
  t.match(await view.run(body.accepted_run_id), { termination_reason: { type: 'natural_end' } });
  t.strictSame(await view.texts(), ['user: Hello', 'user: dropped', 'user: next', 'assistant: echo: next']);
});

t.test('starts a new run on interrupt_then_queue even if the current run is suspended', async (t) => {
  const { tools, executed } = createTestTools();
  const troupe = await startTroupe(t, { app: { tools } });
  troupe.models.steps.push(asks(['c1', 'risky']));
  const [start] = await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages });
  const view = viewOf(troupe, 'T');
  const { body } = await view.say('next', { mode: 'interrupt_then_queue' });
  t.not(body.accepted_run_id, start?.run_id);
  await view.check(t);
  t.match(await view.run(start?.run_id), { status: 'done', termination_reason: { type: 'cancelled' } });
  t.match(await view.run(body.accepted_run_id), { termination_reason: { type: 'natural_end' } });
  t.strictSame(executed, []);
});

t.test('continues a suspended run on resume_open_run, and rejects it without one', async (t) => {
  const { tools } = createTestTools();
  const troupe = await startTroupe(t, { app: { tools } });
  const view = viewOf(troupe, await newThread(troupe));
  const { id } = await view.thread();
  const nothing = { status: 404, body: { error: `run not found: open run for thread ${id}` } };
  t.match(await view.say('x', { mode: 'resume_open_run', agentId: 'steps' }), nothing);
  t.strictSame(await view.messages(), []);

  const slow = await troupe.run({ agentId: 'slow', threadId: id, messages });
  const { run_id: running } = await slow.until('run_start');
  t.match(await view.say('x', { mode: 'resume_open_run' }), {
    status: 404,
    body: { error: `run not found: ${running}` },
  });
  troupe.models.release();
  t.match((await slow.rest()).at(-1), { termination: { type: 'natural_end' } });

  troupe.models.steps.push(asks(['c1', 'risky']));
  const [start] = await troupe.runToEnd({ agentId: 'steps', threadId: id, messages });
  t.equal((await view.messages()).filter(({ tool_calls }) => tool_calls).length, 1);
  const { status, body } = await view.say('go on', { mode: 'resume_open_run' });
  t.equal(status, 202);
  t.equal(body.accepted_run_id, start?.run_id, 'the same run continues');
  await view.until(start?.run_id, 'done');
  t.strictSame(
    (await view.messages()).filter(({ tool_calls, role }) => tool_calls || role === 'tool'),
    [],
  );
  t.match(await view.say('x', { mode: 'resume_open_run' }), nothing);
  await view.check(t);
});
