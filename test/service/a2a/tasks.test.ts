import t from 'tap';
import { createIds } from '../../../src/composition/ids.ts';
import { ModelError } from '../../../src/models/errors.ts';
import { textOf as contentOf } from '../../../src/schema/message.ts';
import { asks } from '../models.ts';
import { eventually } from '../troupe.ts';
import { a2aFor, reasonIn, said, textOf, violationsIn } from './tasks-client.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

t.test('returns a submitted task at once, with its id as that of the run and the dispatch', async (t) => {
  const { troupe, begin, get } = await a2aFor(t);
  const ids = { taskId: 'x', contextId: 'x' };
  const task = await begin({ ...ids, tenant: 'echo' });
  t.match(task, { id: 'x', contextId: 'x', status: { state: 'TASK_STATE_SUBMITTED' } });
  t.match(task.status.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const done = await eventually(
    () => get('x'),
    ({ status }) => status.state === 'TASK_STATE_COMPLETED',
  );
  t.strictSame(done.artifacts, [
    { artifactId: 'response', name: 'response', parts: [{ text: 'echo: Hello' }] },
  ]);
  const { body: run } = await troupe.call('GET', '/v1/runs/x');
  t.match(run, { run_id: 'x', dispatch_id: 'x', agent_id: 'echo', status: 'done' });
  t.match(run.activation, { trace: { origin: 'user', adapter: 'a2a', run_mode: 'scheduled' } });
  const { body: mailbox } = await troupe.call('GET', '/v1/threads/x/mailbox');
  t.match(mailbox.items, [{ dispatch_id: 'x', run_id: 'x', status: 'Acked' }]);
});

t.test('shows no part of the response in a submitted task, however fast the model is', async (t) => {
  const { begin, stream } = await a2aFor(t);
  for (let round = 0; round < 20; round += 1) {
    const task = await begin({ tenant: 'echo', configuration: { historyLength: 1 } });
    t.strictSame(said(task), ['user: Hello']);
    t.notOk('artifacts' in task);
    const [first] = await (await stream({ tenant: 'echo' })).rest();
    t.strictSame(first && 'task' in first && said(first.task), ['user: Hello']);
  }
});

t.test('returns the final task with its history from a blocking send', async (t) => {
  const { send } = await a2aFor(t);
  const task = await send({ tenant: 'echo', messageId: 'mine' });
  t.match(task.id, UUID_V7);
  t.match(task.contextId, UUID_V7);
  t.not(task.id, task.contextId);
  t.match(task.status, {
    state: 'TASK_STATE_COMPLETED',
    message: {
      role: 'ROLE_AGENT',
      parts: [{ text: 'echo: Hello' }],
      taskId: task.id,
      contextId: task.contextId,
    },
  });
  t.strictSame(said(task), ['user: Hello', 'agent: echo: Hello']);
  t.equal(task.history?.[0]?.messageId, 'mine');
  t.match(task.history?.[1]?.messageId, UUID_V7);
});

t.test('limits a blocking send to the configured maximum', async (t) => {
  const { send, troupe } = await a2aFor(t, { settings: { a2a_blocking_wait_ms: 20 } });
  t.match((await send({ tenant: 'slow' })).status.state, /^TASK_STATE_(SUBMITTED|WORKING)$/);
  troupe.models.release();
});

t.test('blocks a send as long as its task works when there is no maximum', async (t) => {
  const { send, get, troupe } = await a2aFor(t, { settings: { a2a_blocking_wait_ms: 0 } });
  const sending = send({ tenant: 'slow', taskId: 'x', contextId: 'x' });
  // The model may receive its request before the task is durable and visible.
  const task = await eventually(
    () => get('x').catch(() => undefined),
    (found) => found?.status.state === 'TASK_STATE_WORKING',
  );
  for (let looks = 0; looks < 5; looks += 1) t.same((await get('x')).status.state, task?.status.state);
  troupe.models.release();
  t.equal((await sending).status.state, 'TASK_STATE_COMPLETED');
});

t.test('answers blocking sends with their unfinished tasks when the service stops', async (t) => {
  const { send, get, troupe } = await a2aFor(t, { settings: { shutdown_timeout_ms: 0 } });
  const sending = send({ tenant: 'slow', taskId: 'x', contextId: 'x' });
  await eventually(
    () => get('x').catch(() => undefined),
    (found) => found?.status.state === 'TASK_STATE_WORKING',
  );
  // The task is queued behind the first one.
  const queued = send({ tenant: 'slow', taskId: 'y', contextId: 'x' });
  await eventually(
    () => get('y').catch(() => undefined),
    (found) => found !== undefined,
  );
  await troupe.restart();
  t.equal((await sending).status.state, 'TASK_STATE_WORKING');
  t.equal((await queued).status.state, 'TASK_STATE_SUBMITTED');
  for (const id of ['x', 'y']) {
    troupe.models.release();
    const done = await eventually(
      () => get(id),
      ({ status }) => status.state === 'TASK_STATE_COMPLETED',
    );
    t.equal(done.id, id);
  }
});

t.test('returns the same task for a repeated message and executes it once', async (t) => {
  const { send, begin, stream, troupe } = await a2aFor(t);
  const messageId = `${createIds().uuid()}-0`;
  const both = await Promise.all([1, 2, 3].map(() => send({ messageId, tenant: 'echo' })));
  const [first] = both;
  t.match(first, { status: { state: 'TASK_STATE_COMPLETED' } });
  await troupe.restart();
  const again = await send({ messageId, tenant: 'echo' });
  const atOnce = await begin({ messageId, tenant: 'echo' });
  const [streamed] = await (await stream({ messageId, tenant: 'echo' })).rest();
  for (const task of [...both, again, atOnce, streamed && 'task' in streamed ? streamed.task : undefined])
    t.match(task, { id: first?.id, contextId: first?.contextId, status: { state: 'TASK_STATE_COMPLETED' } });
  t.equal(troupe.models.requests.length, 1);
  t.equal((await troupe.call('GET', '/v1/runs')).body.total, 1);
});

t.test('treats messages with another text, context or agent as different', async (t) => {
  const { send } = await a2aFor(t);
  const messageId = createIds().uuid();
  const tasks = [
    await send({ messageId }),
    await send({ messageId, text: 'Bye' }),
    await send({ messageId, contextId: 'c' }),
    await send({ messageId, tenant: 'echo' }),
  ];
  t.equal(new Set(tasks.map(({ id }) => id)).size, 4);
});

t.test('executes repeated messages again if their id is not unique by its form', async (t) => {
  const { send } = await a2aFor(t);
  const tasks = [
    await send({ messageId: 'tck-complete-task-1' }),
    await send({ messageId: 'tck-complete-task-1' }),
  ];
  t.equal(new Set(tasks.map(({ id }) => id)).size, 2);
});

t.test('creates a task with an unknown id only if a context is given', async (t) => {
  const { ask, troupe } = await a2aFor(t);
  const answer = await ask({ taskId: 'nobody' });
  t.equal(answer.status, 404);
  t.equal(reasonIn(answer), 'TASK_NOT_FOUND');
  t.equal((await troupe.call('GET', '/v1/runs')).body.total, 0);
  t.equal((await troupe.call('GET', '/v1/threads')).body.total, 0);
});

t.test('accepts client task ids as configured', async (t) => {
  const never = await a2aFor(t, { settings: { a2a_client_task_ids: 'never' } });
  t.equal((await never.ask({ taskId: 'a', contextId: 'c' })).status, 404);
  await t.test('always', async (t) => {
    const always = await a2aFor(t, { settings: { a2a_client_task_ids: 'always' } });
    t.equal((await always.send({ taskId: 'a', tenant: 'echo' })).id, 'a');
  });
});

t.test('accepts an agent in the path or in the body, and rejects a contradiction', async (t) => {
  const { ask, send } = await a2aFor(t);
  const both = await ask({ tenant: 'echo', body: { tenant: 'slow' } });
  t.equal(both.status, 400);
  t.strictSame(
    violationsIn(both).map(({ field }) => field),
    ['tenant'],
  );
  for (const body of [{ tenant: 'echo' }, { agentId: 'echo' }, { agent_id: 'echo' }])
    t.equal(textOf((await send({ body })).status.message ?? { parts: [] }), 'echo: Hello');
  const unknown = await ask({ tenant: 'ghost' });
  t.match(unknown, { status: 404, body: { error: { message: 'agent not found: ghost' } } });
  t.notOk(JSON.stringify(unknown.body).includes('details'));
});

t.test(
  'separates the messages of tasks in a context, and reuses the last agent of the context',
  async (t) => {
    const { send, troupe } = await a2aFor(t);
    troupe.models.steps.push((sink) => {
      sink.text('from steps');
      return { stop: 'EndTurn' };
    });
    const first = await send({ contextId: 'c', tenant: 'echo', text: 'one' });
    const second = await send({ contextId: 'c', tenant: 'steps', text: 'two' });
    const third = await send({ contextId: 'c', tenant: 'echo', text: 'three' });
    const fourth = await send({ contextId: 'c', text: 'four' });
    t.strictSame([first, second, third, fourth].map(said), [
      ['user: one', 'agent: echo: one'],
      ['user: two', 'agent: from steps'],
      ['user: three', 'agent: echo: three'],
      ['user: four', 'agent: echo: four'],
    ]);
  },
);

t.test('accepts a message id several times, also within a task', async (t) => {
  const { send, troupe } = await a2aFor(t);
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const waiting = await send({ tenant: 'steps', messageId: 'same', text: 'one' });
  t.equal(waiting.status.state, 'TASK_STATE_AUTH_REQUIRED');
  const done = await send({ taskId: waiting.id, messageId: 'same', text: 'two' });
  t.equal(done.id, waiting.id);
  t.equal(done.status.state, 'TASK_STATE_COMPLETED');
  t.strictSame(said(done), ['user: one', 'user: two', 'agent: echo: two']);
  t.strictSame(
    done.history?.filter(({ role }) => role === 'ROLE_USER').map(({ messageId }) => messageId),
    ['same', 'same'],
  );
  const other = await send({ tenant: 'echo', messageId: 'same', contextId: waiting.contextId });
  t.equal(other.status.state, 'TASK_STATE_COMPLETED');
});

t.test('uses a message to a task that waits for input as the result of its question', async (t) => {
  const { send, troupe } = await a2aFor(t);
  troupe.models.steps.push(asks(['c1', 'pick_color'], ['c2', 'note'], ['c3', 'pick_color']));
  const waiting = await send({ tenant: 'steps', text: 'Paint it' });
  t.equal(waiting.status.state, 'TASK_STATE_INPUT_REQUIRED');
  t.match((await troupe.call('GET', `/v1/runs/${waiting.id}`)).body.waiting, {
    reason: 'user_input',
    ticket_ids: ['suspend_c1', 'suspend_c3'],
  });
  const done = await send({ taskId: waiting.id, text: 'blue' });
  t.equal(done.status.state, 'TASK_STATE_COMPLETED');
  t.strictSame(said(done), ['user: Paint it', 'user: blue', 'agent: echo: blue']);
  const asked = troupe.models.requests.at(-1)?.request.messages ?? [];
  t.strictSame(
    asked.flatMap(({ tool_call_id, content }) => (tool_call_id ? [[tool_call_id, contentOf(content)]] : [])),
    [
      ['c1', '"blue"'],
      ['c2', '"did c2"'],
      ['c3', '"blue"'],
    ],
  );
});

t.test('does not grant a permission by replying to a question of the same task', async (t) => {
  const { send, tools, troupe } = await a2aFor(t);
  troupe.models.steps.push(asks(['c1', 'pick_color'], ['c2', 'risky']));
  const waiting = await send({ tenant: 'steps' });
  t.equal(waiting.status.state, 'TASK_STATE_AUTH_REQUIRED');
  t.match((await troupe.call('GET', `/v1/runs/${waiting.id}`)).body.waiting, { reason: 'tool_permission' });
  t.equal((await send({ taskId: waiting.id, text: 'yes' })).status.state, 'TASK_STATE_COMPLETED');
  t.strictSame(tools.executed, []);
});

t.test('names the open tickets in the status of a suspended task', async (t) => {
  const { send, troupe } = await a2aFor(t);
  troupe.models.steps.push((sink, ...rest) => {
    sink.text('Let me try.');
    return asks(['call-1', 'risky'])(sink, ...rest);
  });
  const { status } = await send({ tenant: 'steps' });
  t.match(status, { state: 'TASK_STATE_AUTH_REQUIRED', message: { role: 'ROLE_AGENT' } });
  t.match(status.message?.parts, [{ text: 'Let me try.' }, { text: /risky/ }]);
  t.match(status.message?.metadata, { ticketIds: [String] });
});

t.test('keeps a suspended task resumable when a new task starts in its context', async (t) => {
  const { send, get, troupe } = await a2aFor(t);
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const waiting = await send({ tenant: 'steps', contextId: 'c', text: 'one' });
  const beside = await send({ tenant: 'steps', contextId: 'c', text: 'two' });
  t.equal(beside.status.state, 'TASK_STATE_COMPLETED');
  t.strictSame(said(beside), ['user: two', 'agent: echo: two']);
  t.equal((await get(waiting.id)).status.state, 'TASK_STATE_AUTH_REQUIRED');
  const done = await send({ taskId: waiting.id, text: 'three' });
  t.strictSame(said(done), ['user: one', 'user: three', 'agent: echo: three']);
  t.strictSame(said(await get(beside.id)), ['user: two', 'agent: echo: two']);
});

t.test('rejects a message to a task that cannot accept it, with the reason', async (t) => {
  const { ask, begin, send, troupe } = await a2aFor(t);
  const working = await begin({ tenant: 'slow', contextId: 'c' });
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  const queued = await begin({ tenant: 'slow', contextId: 'c' });
  const done = await send({ tenant: 'echo' });
  const fieldsOf = async (asked: Parameters<typeof ask>[0]) => {
    const answer = await ask(asked);
    return [answer.status, ...violationsIn(answer).map(({ field }) => field)];
  };
  t.strictSame(await fieldsOf({ taskId: working.id }), [400, 'message.taskId']);
  t.match(violationsIn(await ask({ taskId: working.id })), [
    { description: /must reference an interrupted/ },
  ]);
  t.match(violationsIn(await ask({ taskId: queued.id })), [{ description: /in-flight task/ }]);
  t.strictSame(await fieldsOf({ taskId: working.id, contextId: 'other' }), [400, 'message.contextId']);
  const over = await ask({ taskId: done.id });
  t.equal(over.status, 400);
  t.equal(reasonIn(over), 'UNSUPPORTED_OPERATION');
  const foreign = await ask({ taskId: working.id, tenant: 'echo' });
  t.equal(foreign.status, 404);
  t.equal(reasonIn(foreign), 'TASK_NOT_FOUND');
  troupe.models.releaseAll();
});

t.test('creates one task for two concurrent messages with its id, and rejects one of them', async (t) => {
  const { ask, troupe } = await a2aFor(t);
  const asked = { taskId: 'x', contextId: 'c', tenant: 'slow', configuration: { returnImmediately: true } };
  const answers = await Promise.all([ask(asked), ask(asked)]);
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 400]);
  troupe.models.releaseAll();
});

t.test('queues a task again when it receives a reply while its context is busy', async (t) => {
  const { ask, send, begin, get, troupe } = await a2aFor(t);
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const waiting = await send({ tenant: 'steps', contextId: 'c', text: 'one' });
  await begin({ tenant: 'slow', contextId: 'c' });
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  const followUp = ask({ taskId: waiting.id, text: 'two' });
  const queued = await eventually(
    () => get(waiting.id),
    ({ status }) => status.state !== 'TASK_STATE_AUTH_REQUIRED',
  );
  t.equal(queued.status.state, 'TASK_STATE_SUBMITTED');
  t.strictSame(said(queued), ['user: one', 'user: two'], 'staged input is part of the history');
  const { body } = await troupe.call('GET', '/v1/a2a/tasks?status=submitted');
  t.match(body, { totalSize: 1, tasks: [{ id: waiting.id }] });
  troupe.models.release();
  t.match((await followUp).body, { task: { status: { state: 'TASK_STATE_COMPLETED' } } });
});

t.test('ends a task as its run ends', async (t) => {
  const { send, troupe } = await a2aFor(t);
  troupe.models.failures.push(new ModelError('invalid_request', 'no such upstream'));
  const failed = await send({ tenant: 'flaky' });
  t.equal(failed.status.state, 'TASK_STATE_FAILED');
  t.match(failed.status.message, { role: 'ROLE_AGENT' });
  t.notOk(failed.artifacts);
});

t.test('passes parts of every kind to the agent and back', async (t) => {
  const { send, troupe } = await a2aFor(t);
  const parts = [
    { text: 'Look' },
    { raw: 'iVBORw==', mediaType: 'image/png' },
    { url: 'https://example.org/a.pdf', filename: 'a.pdf' },
    { data: { a: 1 } },
  ];
  const task = await send({ tenant: 'echo', parts });
  t.match(task.history?.[0]?.parts, [
    { text: 'Look' },
    { raw: 'iVBORw==', mediaType: 'image/png' },
    { url: 'https://example.org/a.pdf', mediaType: 'application/pdf', filename: 'a.pdf' },
    { data: { a: 1 }, mediaType: 'application/json' },
  ]);
  const asked = troupe.models.requests.at(-1)?.request.messages.at(-1);
  t.strictSame(
    asked?.content.map(({ type }) => type),
    ['text', 'image', 'document', 'text'],
  );
});

t.test('continues a task whose client disconnects', async (t) => {
  const { troupe, get, stream } = await a2aFor(t);
  const reader = await stream({ tenant: 'slow', taskId: 'x', contextId: 'c' });
  await reader.until('WORKING');
  await reader.close();
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  troupe.models.release();
  await eventually(
    () => get('x'),
    ({ status }) => status.state === 'TASK_STATE_COMPLETED',
  );
});
