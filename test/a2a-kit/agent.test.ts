import t, { type Test } from 'tap';
import type { Task } from '../../src/protocols/a2a/model.ts';
import { clientOf, eventually } from '../service/troupe.ts';
import type { Wait } from './agent.ts';
import { startKit } from './start.ts';

/** a2a.md 16.3: the behavior that the kit expects for each message id. */

/** Time passes only when the test advances it. */
const stoppedTime = () => {
  const waiting: { ms: number; go(): void }[] = [];
  const wait: Wait = (ms, signal) =>
    new Promise((resolve, reject) => {
      waiting.push({ ms, go: resolve });
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  return { wait, waiting };
};

const start = async (t: Test, wait?: Wait) => {
  const troupe = await startKit(t, wait);
  const client = clientOf(() => troupe.url);
  const send = async (messageId: string, more: object = {}, configuration: object = {}): Promise<Task> => {
    const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'Go' }], ...more };
    const { status, body } = await client.post('/v1/a2a/message:send', { message, configuration });
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body.task as Task;
  };
  const read = async (id: string): Promise<Task> => {
    const { body } = await client.call('GET', `/v1/a2a/tasks/${id}`);
    return body as Task;
  };
  return { client, send, read };
};

const text = (value: string) => [{ text: value }];
const output = { mediaType: 'text/plain', filename: 'output.txt' };

const artifacts: [id: string, parts: object[]][] = [
  ['tck-complete-task', text('Hello from TCK')],
  ['tck-artifact-text', text('Generated text content')],
  ['tck-artifact-file', [{ raw: Buffer.from('Generated file content').toString('base64'), ...output }]],
  ['tck-artifact-file-url', [{ url: 'https://example.com/output.txt', ...output }]],
  ['tck-artifact-data', [{ data: { key: 'value', count: 42 }, mediaType: 'application/json' }]],
  ['tck-stream-002', text('Stream hello from TCK')],
  ['tck-stream-artifact-chunked', text('chunk-1 chunk-2')],
  [
    'tck-stream-artifact-file',
    [{ raw: Buffer.from('Generated file content').toString('base64'), ...output }],
  ],
  ['anything else', text('Hello from TCK')],
];

t.test('the agent completes tasks with text, files, addresses and data', async (t) => {
  const { send } = await start(t);
  for (const [id, parts] of artifacts) {
    const task = await send(`${id}-1a2b`);
    t.equal(task.status.state, 'TASK_STATE_COMPLETED', id);
    t.strictSame(task.artifacts?.[0]?.parts, parts, id);
  }
});

t.test('the agent asks for input, also after it was answered, and rejects a task', async (t) => {
  const { send } = await start(t);
  const asked = await send('tck-input-required-1');
  t.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED');
  const again = await send('tck-input-required-2', { taskId: asked.id, contextId: asked.contextId });
  t.match(again, { id: asked.id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
  const rejected = await send('tck-reject-task-1');
  t.equal(rejected.status.state, 'TASK_STATE_REJECTED');
});

t.test('the agent works for four seconds on a task that a client subscribes to again', async (t) => {
  const { wait, waiting } = stoppedTime();
  const { send, read } = await start(t, wait);
  const { id } = await send('test-resubscribe-message-id-1', {}, { returnImmediately: true });
  const working = await eventually(
    () => read(id),
    ({ status }) => status.state !== 'TASK_STATE_SUBMITTED' && waiting.length > 0,
  );
  t.equal(working.status.state, 'TASK_STATE_WORKING');
  t.equal(waiting[0]?.ms, 4_000);
  waiting[0]?.go();
  const done = await eventually(
    () => read(id),
    ({ status }) => status.state !== 'TASK_STATE_WORKING',
  );
  t.match(done, {
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ parts: [{ text: 'Long work is done' }] }],
  });
});

t.test('the agent card contains no field that the protocol has removed', async (t) => {
  const { client } = await start(t);
  const { body } = await client.call('GET', '/.well-known/agent-card.json');
  t.notOk('stateTransitionHistory' in Object(body.capabilities));
});
