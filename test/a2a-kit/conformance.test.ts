import t from 'tap';
import type { StreamResponse, Task } from '../../src/protocols/a2a/model.ts';
import { when } from '../http/serve.ts';
import { startWebhook, stateIn } from '../protocols/a2a/webhook.ts';
import { eventShape, taskShape } from '../service/a2a/shapes.ts';
import { statesIn } from '../service/a2a/tasks-client.ts';
import { ask } from '../service/http.ts';
import { readBlocks } from '../service/stream.ts';
import { startKit } from './start.ts';

/**
 * The requirements of the public conformance kit for a server over HTTP+JSON (a2a.md 16.2), with the strict shapes of
 * the protocol. Each test is named after the ids of its requirements.
 */

const troupe = await startKit(t);

const HEADERS = { 'A2A-Version': '1.0', 'Content-Type': 'application/json' };

const call = async (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = HEADERS,
) => {
  const response = await ask(`${troupe.url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
};

const requestOf = (
  messageId: string,
  { text = 'Go', ...message }: { text?: string; [key: string]: unknown } = {},
  configuration?: object,
) => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text }], ...message },
  ...(configuration && { configuration }),
});

const send = async (...asked: Parameters<typeof requestOf>): Promise<Task> => {
  const { status, body } = await call('POST', '/v1/a2a/message:send', requestOf(...asked));
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return taskShape(body.task);
};

async function* eventsOf(path: string, body?: unknown): AsyncGenerator<StreamResponse> {
  const response = await ask(`${troupe.url}${path}`, {
    method: 'POST',
    headers: HEADERS,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  t.equal(response.headers.get('content-type'), 'text/event-stream', 'HTTP_JSON-SSE-001');
  const { next } = readBlocks(response);
  for (let block = await next(); block !== undefined; block = await next())
    if (block.startsWith('data: ')) yield eventShape(JSON.parse(block.slice(6)));
}

const ORDER = ['SUBMITTED', 'WORKING', 'COMPLETED'];

const stream = async (messageId: string): Promise<StreamResponse[]> => {
  const events: StreamResponse[] = [];
  for await (const event of eventsOf('/v1/a2a/message:stream', requestOf(messageId))) events.push(event);
  return events;
};

const reasonOf = ({ body }: { body?: { error?: { details?: { reason?: string; domain?: string }[] } } }) =>
  body?.error?.details?.find(({ reason }) => reason !== undefined);

t.test(
  'CARD-DISC-001 CARD-STRUCT-001 CARD-PROTO-001/002 BIND-FIELD-001 CARD-CACHE-001/002/003',
  async (t) => {
    const { status, headers, body } = await call('GET', '/.well-known/agent-card.json', undefined, {});
    t.equal(status, 200);
    t.match(headers.get('cache-control'), /max-age=\d+/);
    t.ok(headers.get('etag'));
    t.ok(Number.isFinite(Date.parse(headers.get('last-modified') ?? '')));
    t.match(body, {
      name: 'tck',
      description: /./,
      version: /./,
      supportedInterfaces: [
        { url: `${troupe.url}/v1/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: true, pushNotifications: true },
      defaultInputModes: [/./],
      defaultOutputModes: [/./],
      skills: [{ id: /./, name: /./, description: /./, tags: [/./] }],
    });
    t.notOk('stateTransitionHistory' in body.capabilities, 'the card has no fields outside of the schema');
  },
);

t.test('CORE-SEND-001/002/003 CORE-GET-001/002 CORE-EXECUTION-MODE-001/002 DM-TASK DM-STATUS', async (t) => {
  const done = await send('tck-complete-task-1');
  t.equal(done.status.state, 'TASK_STATE_COMPLETED');
  const { body } = await call('GET', `/v1/a2a/tasks/${done.id}`);
  t.strictSame(taskShape(body), done);
  const begun = await send('tck-complete-task-2', {}, { returnImmediately: true });
  t.equal(begun.status.state, 'TASK_STATE_SUBMITTED');
  const odd = { parts: [{ raw: 'AA==', mediaType: 'application/x-unknown' }], unknownKey: 1 };
  t.equal(
    (await send('tck-complete-task-3', odd)).status.state,
    'TASK_STATE_COMPLETED',
    'the task accepts an unknown media type',
  );
  const over = await call(
    'POST',
    '/v1/a2a/message:send',
    requestOf('tck-complete-task-4', { taskId: done.id }),
  );
  t.strictSame([over.status, reasonOf(over)?.reason], [400, 'UNSUPPORTED_OPERATION']);
});

t.test('DM-ART-001 DM-PART-001 DM-MSG-001', async (t) => {
  const named = { mediaType: 'text/plain', filename: 'output.txt' };
  const expected: [string, object][] = [
    ['tck-artifact-text', { text: 'Generated text content' }],
    ['tck-artifact-file', { raw: Buffer.from('Generated file content').toString('base64'), ...named }],
    ['tck-artifact-file-url', { url: 'https://example.com/output.txt', ...named }],
    ['tck-artifact-data', { data: { key: 'value', count: 42 } }],
  ];
  for (const [id, part] of expected) t.match((await send(`${id}-x`)).artifacts, [{ parts: [part] }], id);
});

t.test('CORE-LIST-001..005', async (t) => {
  const contextId = 'list-context';
  const list = async (query: string) => (await call('GET', `/v1/a2a/tasks?${query}`)).body;
  t.strictSame(await list('contextId=nobody'), { tasks: [], totalSize: 0, pageSize: 50, nextPageToken: '' });
  for (const id of ['a', 'b', 'c']) await send(`tck-complete-task-${id}`, { contextId });
  const first = await list(`contextId=${contextId}&pageSize=2`);
  t.match(first, { totalSize: 3, pageSize: 2, nextPageToken: /./ });
  for (const task of first.tasks)
    t.notOk(taskShape(task).artifacts, 'a list without include_artifacts has no artifacts');
  const rest = await list(
    `contextId=${contextId}&pageSize=2&pageToken=${first.nextPageToken}&includeArtifacts=true`,
  );
  t.match(rest, { tasks: [{ artifacts: [{ parts: [{ text: /./ }] }] }], nextPageToken: '' });
  const times = [...first.tasks, ...rest.tasks].map(({ status }: Task) => status.timestamp);
  t.strictSame(times, [...times].sort().reverse(), 'the list starts with the newest task');
});

t.test('CORE-CANCEL-001/002/003 CORE-MULTI-001..006 CORE-HIST-001..006', async (t) => {
  const asked = await send('tck-input-required-1', { text: 'one' });
  t.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED');
  const elsewhere = await call(
    'POST',
    '/v1/a2a/message:send',
    requestOf('tck-input-required-1', { taskId: asked.id, contextId: 'another' }),
  );
  t.equal(elsewhere.status, 400, 'CORE-MULTI-006');
  const again = await send('tck-input-required-1', { taskId: asked.id, text: 'two' });
  t.strictSame([again.id, again.contextId], [asked.id, asked.contextId], 'CORE-MULTI-005');
  const texts = (again.history ?? []).flatMap(({ role, parts }) =>
    role === 'ROLE_USER' ? parts.map((part) => ('text' in part ? part.text : '')) : [],
  );
  t.strictSame(texts, ['one', 'two'], 'a repeated message id is stored once');
  for (const [length, count] of [
    [0, 0],
    [1, 1],
  ] as const) {
    const { body } = await call('GET', `/v1/a2a/tasks/${asked.id}?historyLength=${length}`);
    t.equal(taskShape(body).history?.length ?? 0, count);
  }
  const canceled = await call('POST', `/v1/a2a/tasks/${asked.id}:cancel`, '');
  t.equal(taskShape(canceled.body).status.state, 'TASK_STATE_CANCELED');
  const twice = await call('POST', `/v1/a2a/tasks/${asked.id}:cancel`, '');
  t.strictSame([twice.status, reasonOf(twice)?.reason], [409, 'TASK_NOT_CANCELABLE']);
  t.equal((await call('POST', '/v1/a2a/tasks/nobody:cancel', '')).status, 404);
  const unknown = await call('POST', '/v1/a2a/message:send', requestOf('m', { taskId: 'nobody' }));
  t.strictSame([unknown.status, reasonOf(unknown)?.reason], [404, 'TASK_NOT_FOUND'], 'CORE-MULTI-004');
  t.equal((await send('tck-reject-task-1')).status.state, 'TASK_STATE_REJECTED');
});

t.test('CORE-STREAM-001..003 STREAM-ORDER-001..004', async (t) => {
  for (const id of [
    'tck-stream-001',
    'tck-stream-003',
    'tck-stream-ordering-001',
    'tck-stream-artifact-chunked',
  ]) {
    const events = await stream(`${id}-1`);
    t.ok(events[0] && 'task' in events[0], `${id}: the task first`);
    t.strictSame(statesIn(events), ORDER, `${id}: no state goes back`);
    t.strictSame(statesIn(events.slice(-1)), ['COMPLETED']);
    t.ok(events.some((event) => 'artifactUpdate' in event && event.artifactUpdate.lastChunk));
  }
});

t.test('STREAM-SUB-001..004 and two subscribers', async (t) => {
  const { id } = await send('tck-input-required-2');
  const heard = [0, 1].map(async () => {
    const events: StreamResponse[] = [];
    for await (const event of eventsOf(`/v1/a2a/tasks/${id}:subscribe`)) {
      events.push(event);
      listening += events.length === 1 ? 1 : 0;
    }
    return events;
  });
  let listening = 0;
  await when(() => listening === 2);
  t.equal((await send('tck-complete-task-5', { taskId: id })).status.state, 'TASK_STATE_COMPLETED');
  const [one = [], two = []] = await Promise.all(heard);
  t.strictSame(one, two);
  t.ok(one[0] && 'task' in one[0], 'STREAM-SUB-001');
  t.strictSame(statesIn(one.slice(-1)), ['COMPLETED'], 'STREAM-SUB-002');
  const over = await call('POST', `/v1/a2a/tasks/${id}:subscribe`, '');
  t.strictSame([over.status, reasonOf(over)?.reason], [400, 'UNSUPPORTED_OPERATION'], 'STREAM-SUB-003');
  t.equal((await call('POST', '/v1/a2a/tasks/nobody:subscribe', '')).status, 404, 'STREAM-SUB-004');
});

t.test('PUSH-CREATE/GET/LIST/DEL PUSH-DELIVER-001..003', async (t) => {
  const hook = await startWebhook(t);
  const { id } = await send('tck-complete-task-6');
  const path = `/v1/a2a/tasks/${id}/pushNotificationConfigs`;
  const config = { id: 'c1', taskId: id, url: hook.url };
  t.match(await call('POST', path, config), { status: 200, body: config });
  t.strictSame((await call('GET', `${path}/c1`)).body, config);
  t.strictSame((await call('GET', path)).body, { configs: [config], nextPageToken: '' });
  for (const _ of ['there', 'gone']) t.match(await call('DELETE', `${path}/c1`), { status: 200, body: {} });
  t.equal((await call('GET', `${path}/c1`)).status, 404);
  const before = hook.calls.length;
  await send(
    'tck-complete-task-7',
    {},
    {
      taskPushNotificationConfig: {
        url: hook.url,
        authentication: { scheme: 'Bearer', credentials: 'secret' },
      },
    },
  );
  await when(() => hook.calls.slice(before).some((each) => stateIn(each) === 'COMPLETED'));
  for (const { headers, body } of hook.calls.slice(before)) {
    t.equal(headers.authorization, 'Bearer secret');
    eventShape(body);
  }
});

t.test(
  'CORE-ERR-001/002 VER-SERVER-002 HTTP_JSON-ERR-001/002 HTTP_JSON-STATUS-001 HTTP_JSON-SVC-001/002',
  async (t) => {
    const unknown = await call('GET', '/v1/a2a/tasks/nobody');
    t.match(unknown, { status: 404, body: { error: { code: 404, message: /./ } } });
    t.match(reasonOf(unknown), { reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' });
    t.equal(unknown.headers.get('content-type'), 'application/json');
    t.equal((await call('POST', '/v1/a2a/message:send', {})).status, 400);
    const plain = await call('POST', '/v1/a2a/message:send', requestOf('m'), {
      ...HEADERS,
      'Content-Type': 'text/plain',
    });
    t.strictSame([plain.status, reasonOf(plain)?.reason], [415, 'CONTENT_TYPE_NOT_SUPPORTED']);
    const version = await call('POST', '/v1/a2a/message:send', requestOf('m'), {
      ...HEADERS,
      'A2A-Version': '99.0',
    });
    t.strictSame([version.status, reasonOf(version)?.reason], [400, 'VERSION_NOT_SUPPORTED']);
    const extended = await call('POST', '/v1/a2a/message:send', requestOf('tck-complete-task-8'), {
      ...HEADERS,
      'A2A-Extensions': 'https://example.com/extension',
    });
    t.equal(extended.status, 200);
  },
);
