import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { get as getRequest, wire } from '../../http/serve.ts';
import { LONG } from '../../long.ts';
import { startWebhook, stateIn as stateOfCall } from '../../protocols/a2a/webhook.ts';
import { asks, hangs } from '../models.ts';
import { eventually } from '../troupe.ts';
import { a2aFor, heardIn, said, statesIn, type TaskClient, textOf, violationsIn } from './tasks-client.ts';

/** Malicious clients, receivers and ids: the service responds, and other clients are served as before. */

/** The number of open streams of the service. */
const openStreams = async ({ troupe }: TaskClient): Promise<number> => {
  const { body } = await troupe.call('GET', '/metrics');
  const sum = [...String(body.text).matchAll(/^\w*sse\w*(?:connections|streams)\w*(?:\{[^}]*\})? (\d+)$/gm)];
  if (sum.length === 0) throw new Error('no metric counts streams');
  return sum.reduce((total, [, count]) => total + Number(count), 0);
};

const ODD = [
  'a b',
  'ü-日本-🎭',
  'a:b:cancel',
  'per%cent',
  'q?u#e',
  '"quoted"',
  "o'brien",
  '<b>',
  'a'.repeat(200),
];

t.test('accepts unusual task ids and finds tasks by them', async (t) => {
  const { ask, begin, get, troupe } = await a2aFor(t);
  for (const id of ODD) {
    const task = await begin({ tenant: 'echo', taskId: id, contextId: `in ${id}` });
    t.equal(task.id, id);
    const found = await eventually(
      () => get(encodeURIComponent(id)),
      ({ status }) => status.state === 'TASK_STATE_COMPLETED',
    );
    t.match(found, { id, contextId: `in ${id}` });
    const over = await troupe.post(`/v1/a2a/tasks/${encodeURIComponent(id)}:cancel`);
    t.equal(over.status, 409, id);
  }
  for (const id of ['a/b', 'a\\b', 'a..b', 'a\0b', 'a\nb', 'a\u009fb']) {
    const answer = await ask({ tenant: 'echo', taskId: id, contextId: id });
    t.equal(answer.status, 400, JSON.stringify(id));
    t.strictSame(
      violationsIn(answer)
        .map(({ field }) => field)
        .sort(),
      ['message.contextId', 'message.taskId'],
    );
  }
});

t.test('returns a message of the maximum size unchanged', async (t) => {
  const { ask, send } = await a2aFor(t);
  const text = 'ü'.repeat(1024 * 1024 - 200);
  const task = await send({ tenant: 'echo', text });
  t.ok(textOf(task.artifacts?.[0] ?? { parts: [] }) === `echo: ${text}`);
  t.equal((await ask({ tenant: 'echo', text: `${text}${'x'.repeat(400)}` })).status, 413);
});

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

for (const [where, body] of [
  [
    'the data of a part',
    (deep: string) => `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${deep}}]}}`,
  ],
  [
    'the metadata of a part',
    (deep: string) =>
      `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","metadata":${deep}}]}}`,
  ],
  [
    'the metadata of a message',
    (deep: string) =>
      `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],"metadata":${deep}}}`,
  ],
  [
    'the metadata of a request',
    (deep: string) =>
      `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"metadata":${deep}}`,
  ],
] as [string, (deep: string) => string][]) {
  t.test(`${where} may be nested up to a limit`, async (t) => {
    const { troupe } = await a2aFor(t);
    const send = (depth: number) =>
      troupe.call('POST', '/v1/a2a/echo/message:send', body(nested(depth)), {
        'content-type': 'application/json',
      });
    t.equal((await send(20)).status, 200);
    for (const depth of [2000, 150_000]) t.equal((await send(depth)).status, 400, String(depth));
    t.equal((await troupe.call('GET', '/v1/a2a/tasks?historyLength=9')).status, 200);
  });
}

t.test('a subscriber that reads nothing delays no other client', async (t) => {
  const client = await a2aFor(t);
  const { begin, get, subscribe, troupe } = client;
  let goOn = (): void => {};
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const piece = 'x'.repeat(64 * 1024);
  const pieces = 64;
  troupe.models.steps.push(async (sink) => {
    sink.text('-');
    await released;
    for (let i = 0; i < pieces; i += 1) {
      sink.text(piece);
      await new Promise(setImmediate);
    }
    return { stop: 'EndTurn' };
  });
  const { id } = await begin({ tenant: 'steps' });
  const reader = await subscribe(id);
  const deaf = Array.from({ length: 8 }, () => {
    const { socket } = wire(t, Number(new URL(troupe.url).port), getRequest(`/v1/a2a/tasks/${id}:subscribe`));
    socket.pause();
    return socket;
  });
  await eventually(
    () => openStreams(client),
    (open) => open === deaf.length + 1,
  );
  goOn();
  t.equal(heardIn(await reader.rest()).length, pieces * piece.length + 1);
  t.equal((await get(id)).status.state, 'TASK_STATE_COMPLETED');
  for (const socket of deaf) socket.destroy();
  await eventually(
    () => openStreams(client),
    (open) => open === 0,
  );
});

t.test('many aborted subscriptions leave no resources behind', async (t) => {
  const client = await a2aFor(t);
  const { begin, subscribe, troupe } = client;
  troupe.models.steps.push(hangs('partial'));
  const { id } = await begin({ tenant: 'steps' });
  const reader = await subscribe(id);
  await reader.next();
  const url = `${troupe.url}/v1/a2a/tasks/${id}:subscribe`;
  for (let wave = 0; wave < (LONG ? 20 : 4); wave += 1) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const abort = new AbortController();
        const asked = fetch(url, { method: 'POST', signal: abort.signal });
        if (i % 2 === 0) setImmediate(() => abort.abort());
        await asked.then((response) => response.body?.cancel()).catch(() => {});
      }),
    );
  }
  await eventually(
    () => openStreams(client),
    (open) => open === 1,
  );
  t.equal((await troupe.post(`/v1/a2a/tasks/${id}:cancel`)).status, 200);
  t.equal(statesIn(await reader.rest()).at(-1), 'CANCELED');
  const { body } = await troupe.admin('GET', '/v1/system/actors?machine=a2a-task');
  t.match(body, { items: [], total: 0 });
});

t.test('concurrent cancel, reply and end of a task have one outcome for all clients', async (t) => {
  const { ask, begin, get, subscribe, troupe } = await a2aFor(t);
  const ends = new Map<string, number>();
  for (let round = 0; round < (LONG ? 200 : 40); round += 1) {
    troupe.models.steps.push(asks(['c1', 'pick_color']));
    const { id } = await begin({ tenant: 'steps', text: 'one' });
    await eventually(
      () => get(id),
      ({ status }) => status.state === 'TASK_STATE_INPUT_REQUIRED',
    );
    const reader = await subscribe(id);
    const cancel = () => troupe.post(`/v1/a2a/tasks/${id}:cancel`);
    const followUp = () => ask({ taskId: id, text: 'two' });
    const pause = async () => {
      for (let turns = (round % 10) * 4; turns > 0; turns -= 1) await new Promise(setImmediate);
    };
    const [answered, cancelled] = await Promise.all(
      round % 2 === 0 ? [followUp(), pause().then(cancel)] : [pause().then(followUp), cancel()],
    );
    const events = await reader.rest();
    const task = await get(id);
    const { status, history = [] } = task;
    const end = status.state.replace('TASK_STATE_', '');
    ends.set(end, (ends.get(end) ?? 0) + 1);
    t.equal(statesIn(events).at(-1), end, 'the subscriber receives the same outcome');
    t.ok([200, 409].includes(cancelled.status));
    t.ok([200, 400].includes(answered.status), String(answered.status));
    if (cancelled.status === 409) t.equal(end, 'COMPLETED');
    if (end === 'CANCELED') t.equal(cancelled.status, 200);
    if (answered.status !== 200) t.equal(end, 'CANCELED');
    const heard = said({ ...task, history }).filter((each) => each === 'user: two').length;
    t.equal(heard, answered.status === 200 ? 1 : 0, 'an accepted reply is kept, and a rejected one is not');
  }
  t.comment(JSON.stringify(Object.fromEntries(ends)));
});

/** A receiver that handles each notification with `act`. */
const badReceiver = async (t: Test, act: (response: ServerResponse) => void) => {
  let calls = 0;
  let broken = 0;
  const server = createServer((request, response) => {
    calls += 1;
    response.on('close', () => {
      if (!response.writableFinished) broken += 1;
    });
    request.resume().on('end', () => act(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, calls: () => calls, broken: () => broken };
};

t.test('receivers that hang, flood or redirect delay no other receiver', async (t) => {
  const { begin, get, troupe } = await a2aFor(t);
  const good = await startWebhook(t);
  const elsewhere = await startWebhook(t);
  const hanging = await badReceiver(t, () => {});
  const flooding = await badReceiver(t, (response) => {
    const flood = 'x'.repeat(64 * 1024);
    const pour = (): void => {
      while (!response.destroyed && response.write(flood));
      if (!response.destroyed) response.once('drain', pour);
    };
    response.writeHead(200);
    pour();
  });
  const leading = await badReceiver(t, (response) =>
    response.writeHead(307, { location: elsewhere.url }).end(),
  );
  const { id } = await begin({ tenant: 'slow' });
  for (const { url } of [hanging, flooding, leading, good]) {
    const made = await troupe.post(`/v1/a2a/tasks/${id}/pushNotificationConfigs`, { url });
    t.equal(made.status, 200);
  }
  await eventually(async () => troupe.models.waiting(), Boolean);
  troupe.models.release();
  await eventually(
    async () => good.calls.map(stateOfCall),
    (states) => states.includes('COMPLETED'),
  );
  t.equal((await get(id)).status.state, 'TASK_STATE_COMPLETED');
  await eventually(
    async () => flooding.calls(),
    (count) => count >= 3,
  );
  await eventually(
    async () => flooding.calls() - flooding.broken(),
    (open) => open === 0,
  );
  t.ok(leading.calls() > 0 && hanging.calls() === 1);
  t.equal(elsewhere.calls.length, 0, 'redirects are not followed');
});

const MOST = 100;

t.test(`a task accepts ${MOST} push configs, lists them in pages and deletes them`, async (t) => {
  const { send, troupe } = await a2aFor(t);
  const hook = await startWebhook(t);
  const { id } = await send({ tenant: 'echo' });
  const path = `/v1/a2a/tasks/${id}/pushNotificationConfigs`;
  const add = (name: string) => troupe.post(path, { id: name, url: hook.url });
  const made = await Promise.all(Array.from({ length: 2 * MOST }, (_, index) => add(`c${index}`)));
  const taken = made.flatMap(({ status }, index) => (status === 200 ? [`c${index}`] : []));
  t.equal(taken.length, MOST, 'the limit holds for concurrent requests');
  const refused = made.find(({ status }) => status !== 200);
  t.match(refused?.body, {
    error: {
      code: 400,
      details: [{ fieldViolations: [{ field: 'pushNotificationConfig', description: /100/ }] }],
    },
  });
  const [first = ''] = taken;
  t.equal((await add(first)).status, 200, 'an existing config can be replaced');
  const seen = new Set<string>();
  let token = '';
  do {
    const { body } = await troupe.call('GET', `${path}?pageSize=100&pageToken=${token}`);
    const page = body as { configs: { id: string }[]; nextPageToken: string };
    for (const config of page.configs) seen.add(config.id);
    token = page.nextPageToken;
  } while (token !== '');
  t.strictSame([...seen].sort(), [...taken].sort());
  await eventually(
    async () => hook.calls.length,
    (count) => count === MOST + 1,
  );
  t.equal((await troupe.call('DELETE', `${path}/${first}`)).status, 204);
  t.equal((await troupe.call('GET', `${path}/${first}`)).status, 404);
  t.equal((await add('one more')).status, 200);
  t.equal((await troupe.call('GET', `/v1/a2a/tasks/${id}`)).status, 200);
});
