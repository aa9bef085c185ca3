import t from 'tap';
import { asks } from '../models.ts';
import { eventually } from '../troupe.ts';
import { a2aFor, reasonIn, said, stateIn, statesIn, textIn, violationsIn } from './tasks-client.ts';

t.test('starts a stream with the task and ends it with the response and the final status', async (t) => {
  const { stream } = await a2aFor(t);
  const reader = await stream({ tenant: 'echo', configuration: { historyLength: 1 } });
  t.equal(reader.headers.get('content-type'), 'text/event-stream');
  t.equal(reader.headers.get('x-accel-buffering'), 'no');
  const events = await reader.rest();
  t.strictSame(statesIn(events), ['SUBMITTED', 'WORKING', 'COMPLETED']);
  t.ok(events[0] && 'task' in events[0]);
  t.equal(textIn(events), 'echo: Hello');
  t.match(events.at(-2), { artifactUpdate: { artifact: { artifactId: 'response' }, lastChunk: true } });
  t.match(events.at(-1), { statusUpdate: { status: { message: { parts: [{ text: 'echo: Hello' }] } } } });
});

t.test('streams text while it is generated', async (t) => {
  const { stream, troupe } = await a2aFor(t);
  const reader = await stream({ tenant: 'slow' });
  await reader.until('WORKING');
  t.match(await reader.next(), {
    artifactUpdate: { artifact: { parts: [{ text: 'partial' }] }, append: false, lastChunk: false },
  });
  troupe.models.release();
  const rest = await reader.rest();
  // The number of chunks depends on timing.
  t.equal(textIn(rest), ' answer');
  const updates = rest.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate] : []));
  t.ok(updates.every(({ append }) => append));
  t.strictSame(
    updates.map(({ lastChunk }) => lastChunk),
    updates.map((_, index) => index === updates.length - 1),
  );
  t.strictSame(statesIn(rest), ['COMPLETED']);
});

t.test('keeps all statuses in order when acceptance waits for a disk flush', async (t) => {
  const { stream } = await a2aFor(t, { settings: { durability: 'power' } });
  const readers = await Promise.all(Array.from({ length: 10 }, () => stream({ tenant: 'echo' })));
  for (const events of await Promise.all(readers.map((reader) => reader.rest()))) {
    t.strictSame(statesIn(events), ['SUBMITTED', 'WORKING', 'COMPLETED']);
    t.equal(textIn(events), 'echo: Hello');
  }
});

t.test('rejects an invalid request without opening a stream', async (t) => {
  const { troupe } = await a2aFor(t);
  const answer = await troupe.post('/v1/a2a/message:stream', { message: { parts: [] } });
  t.equal(answer.status, 400);
  t.equal(violationsIn(answer).length, 2);
  const unknown = await troupe.call('POST', '/v1/a2a/tasks/nobody:subscribe');
  t.equal(unknown.status, 404);
  t.equal(reasonIn(unknown), 'TASK_NOT_FOUND');
});

t.test('ends the stream of a suspended task, and starts the next one with new statuses only', async (t) => {
  const { stream, troupe } = await a2aFor(t);
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const first = await (await stream({ tenant: 'steps', taskId: 'x', contextId: 'c', text: 'one' })).rest();
  t.strictSame(statesIn(first), ['SUBMITTED', 'WORKING', 'AUTH_REQUIRED']);
  const second = await (await stream({ taskId: 'x', text: 'two' })).rest();
  t.strictSame(statesIn(second), ['SUBMITTED', 'WORKING', 'COMPLETED']);
  t.equal(textIn(second), 'echo: two');
});

t.test('sends all subscribers the same events on both methods, also after one disconnects', async (t) => {
  const { begin, subscribe, troupe } = await a2aFor(t);
  const { id } = await begin({ tenant: 'slow' });
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  const [post, get, gone] = [await subscribe(id), await subscribe(id, 'GET'), await subscribe(id)];
  for (const reader of [post, get, gone]) {
    const head = await reader.next();
    t.match(head, { task: { id, status: { state: 'TASK_STATE_WORKING' } } });
    t.strictSame(head && 'task' in head && said(head.task), ['user: Hello']);
    t.match(head, { task: { artifacts: [{ artifactId: 'response', parts: [{ text: 'partial' }] }] } });
  }
  await gone.close();
  troupe.models.release();
  const [one, two] = [await post.rest(), await get.rest()];
  t.strictSame(one, two);
  t.strictSame(statesIn(one), ['COMPLETED']);
  t.equal(textIn(one), ' answer', 'the subscriber receives the text after its snapshot');
});

t.test('keeps a subscriber of a suspended task until the task ends', async (t) => {
  const { send, subscribe, troupe } = await a2aFor(t);
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const { id } = await send({ tenant: 'steps' });
  const reader = await subscribe(id);
  const head = await reader.next();
  t.equal(head && stateIn(head), 'AUTH_REQUIRED');
  await troupe.post(`/v1/runs/${id}/decision`, { toolCallId: 'call-1', action: 'resume' });
  const events = await reader.rest();
  t.equal(statesIn(events).at(-1), 'COMPLETED');
  t.notOk(statesIn(events).includes('AUTH_REQUIRED'));
  const over = await troupe.call('POST', `/v1/a2a/tasks/${id}:subscribe`);
  t.equal(over.status, 400);
  t.equal(reasonIn(over), 'UNSUPPORTED_OPERATION');
});

t.test('sends the subscriber of a queued task its complete text', async (t) => {
  const { begin, subscribe, troupe } = await a2aFor(t);
  await begin({ tenant: 'slow', contextId: 'c' });
  const { id } = await begin({ tenant: 'echo', contextId: 'c', text: 'second' });
  const reader = await subscribe(id);
  const head = await reader.next();
  t.equal(head && stateIn(head), 'SUBMITTED');
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  troupe.models.release();
  const events = await reader.rest();
  t.strictSame(statesIn(events), ['WORKING', 'COMPLETED']);
  t.equal(textIn(events), 'echo: second');
});

t.test('ends the streams of a cancelled task', async (t) => {
  const { stream, troupe } = await a2aFor(t);
  const reader = await stream({ tenant: 'slow', taskId: 'x', contextId: 'c' });
  await reader.until('WORKING');
  await troupe.call('POST', '/v1/a2a/tasks/x:cancel');
  const events = await reader.rest();
  t.equal(statesIn(events).at(-1), 'CANCELED');
});

t.test('sends heartbeats on an idle stream', async (t) => {
  const { troupe } = await a2aFor(t, { settings: { sse_heartbeat_ms: 15 } });
  troupe.models.steps.push(asks(['call-1', 'hold']));
  const response = await fetch(`${troupe.url}/v1/a2a/steps/message:stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(': heartbeat\n\n')) text += (await reader?.read())?.value ?? '';
  t.match(text, /: heartbeat\n\n/);
  await reader?.cancel();
});
