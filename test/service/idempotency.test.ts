import t, { type Test } from 'tap';
import { ask } from './http.ts';
import { readBlocks } from './stream.ts';
import { suspend, withTools } from './suspended.ts';
import { traced } from './traced.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe } from './troupe.ts';

/** Requests with an `Idempotency-Key`: runtime.md 0.8. */

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

type Sent = { status: number; headers: Headers; text: string };

/** Sends a request with a key, and returns the bytes of its response. */
const send = async (
  { url }: Pick<Troupe, 'url'>,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Sent> => {
  const got = await ask(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: got.status, headers: got.headers, text: await got.text() };
};

let keys = 0;

const key = (value: string): Record<string, string> => ({ 'idempotency-key': value });

const isReplay = ({ headers }: Pick<Sent, 'headers'>): boolean =>
  headers.get('idempotency-replayed') === 'true';

const user = (content: string) => [{ role: 'user', content }];

const count = async ({ call }: Troupe, path: string): Promise<unknown> =>
  (await call('GET', path)).body.total;

/** Sends a request twice with one key, and checks that the responses are equal. */
const sendTwice = async (
  t: Test,
  troupe: Troupe,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Sent> => {
  keys += 1;
  const keyed = { ...key(`key-${keys}`), ...headers };
  const first = await send(troupe, path, body, keyed);
  const again = await send(troupe, path, body, keyed);
  t.ok(first.status >= 200 && first.status < 300, `${path}: ${first.status} ${first.text}`);
  t.notOk(isReplay(first), `${path}: the first response is no replay`);
  t.ok(isReplay(again), `${path}: the second is`);
  t.equal(again.status, first.status, path);
  t.equal(again.text, first.text, path);
  for (const name of ['content-type', 'location', 'cache-control'])
    t.equal(again.headers.get(name), first.headers.get(name), `${path}: ${name}`);
  return first;
};

t.test('executes a request once that is sent twice with one key (check 41)', async (t) => {
  const { troupe } = await withTools(t);
  const { text } = await sendTwice(t, troupe, '/v1/threads', { title: 'Rome' });
  const { id } = JSON.parse(text);
  t.equal(await count(troupe, '/v1/threads'), 1);
  await sendTwice(t, troupe, `/v1/threads/${id}/messages`, { agentId: 'echo', messages: user('one') });
  await sendTwice(t, troupe, `/v1/threads/${id}/mailbox`, { payload: { text: 'two' } });
  await sendTwice(t, troupe, `/v1/threads/${id}/fork`, {});
  t.equal(await count(troupe, '/v1/threads'), 2);
  await eventually(
    async () => (await troupe.call('GET', `/v1/threads/${id}/runs`)).body.items as { status: string }[],
    (runs) => runs.length === 2 && runs.every(({ status }) => status === 'done'),
  );
  const { run_id } = await suspend(troupe, 'S', ['c1', 'risky']);
  const decision = { toolCallId: 'c1', action: 'resume', payload: { approved: true } };
  await sendTwice(t, troupe, `/v1/runs/${run_id}/decision`, decision);
  await sendTwice(t, troupe, `/v1/runs/${run_id}/inputs`, { messages: user('three') });
  t.match(
    (await troupe.call('GET', '/metrics')).body.text,
    /service_idempotency_total\{result="replayed"\} 6\n/,
  );
});

t.test('executes changes of the administration once (check 41)', async (t) => {
  const troupe = await startTroupe(t);
  const twice = (path: string, body: unknown) => sendTwice(t, troupe, path, body, ADMIN);
  await twice('/v1/config/agents', { id: 'poet', model_id: 'echo', system_prompt: 'Verse.' });
  await twice('/v1/users', { id: 'ci-bot', kind: 'service', grants: ['member'] });
  await twice('/v1/eval/datasets', { id: 'greetings', spec: { fixtures: [] } });
  const fixture = { id: 'hello', user_input: 'Hello', provider_script: [], expect: {} };
  const added = await twice('/v1/eval/datasets/greetings/fixtures', { fixture, expected_revision: 0 });
  t.equal(JSON.parse(added.text).spec.fixtures.length, 1);
  const run = { dataset_id: 'greetings', agent_id: 'echo', models: ['echo'], mode: 'live' };
  const begun = await twice('/v1/eval/runs', { ...run, async: true });
  const { id } = JSON.parse(begun.text).run;
  await eventually(
    async () => (await troupe.call('GET', `/v1/eval/runs/${id}`, undefined, ADMIN)).body.run as object,
    (found) => !('status' in found),
  );
  const held = await twice('/v1/eval/runs', { ...run, baseline_run_id: id });
  t.ok(JSON.parse(held.text).diff);
  const { runs } = (await troupe.call('GET', '/v1/eval/runs?status=all', undefined, ADMIN)).body;
  t.equal((runs as unknown[]).length, 2);
});

t.test('refuses to show a new API key again, and creates no second one', async (t) => {
  const troupe = await startTroupe(t);
  const body = { name: 'ci', user: 'bot', new_user: { kind: 'service' }, grants: ['invoke:*'] };
  const headers = { ...ADMIN, ...key('make-a-key') };
  const first = await send(troupe, '/v1/keys', body, headers);
  t.equal(first.status, 201, first.text);
  const { id, key: secret } = JSON.parse(first.text);
  const again = await send(troupe, '/v1/keys', body, headers);
  t.equal(again.status, 409);
  t.match(again.text, `created the key ${id}, which is shown only once`);
  t.notMatch(again.text, secret);
  const rotate = `/v1/keys/${id}/rotate`;
  t.equal((await send(troupe, rotate, { grace_secs: 0 }, { ...ADMIN, ...key('rotate') })).status, 201);
  t.equal((await send(troupe, rotate, { grace_secs: 0 }, { ...ADMIN, ...key('rotate') })).status, 409);
  t.equal((await troupe.call('GET', '/v1/keys', undefined, ADMIN)).body.total, 2);
});

t.test('rejects a key of another request, and keeps the keys of callers apart (check 42)', async (t) => {
  const troupe = await startTroupe(t);
  const first = await send(troupe, '/v1/threads', { title: 'one' }, key('k'));
  for (const [path, body] of [
    ['/v1/threads', { title: 'two' }],
    ['/v1/threads?x=1', { title: 'one' }],
    ['/v1/threads/T/mailbox', { title: 'one' }],
  ] as const) {
    const other = await send(troupe, path, body, key('k'));
    t.equal(other.status, 422, `${path}: ${other.text}`);
    t.match(other.text, 'Idempotency-Key was used for another request');
  }
  const ofAdmin = await send(troupe, '/v1/threads', { title: 'one' }, { ...ADMIN, ...key('k') });
  t.equal(ofAdmin.status, 201);
  t.notOk(isReplay(ofAdmin));
  t.not(JSON.parse(ofAdmin.text).id, JSON.parse(first.text).id);
});

const stream = async (troupe: Troupe, body: object, headers: Record<string, string>) =>
  readBlocks(
    await ask(`${troupe.url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  );

const rest = async (blocks: Awaited<ReturnType<typeof stream>>): Promise<string[]> => {
  const all: string[] = [];
  for (let block = await blocks.next(); block !== undefined; block = await blocks.next())
    if (block.startsWith('data: ')) all.push(block);
  return all;
};

const typesIn = (blocks: readonly string[]): string[] =>
  blocks.map((block) => JSON.parse(block.slice(6)).event_type);

const idsIn = (blocks: readonly string[]): string => JSON.parse(blocks[0]?.slice(6) ?? '').run_id;

t.test(
  'streams a run again from its first frame, while it executes and after its end (check 43)',
  async (t) => {
    const troupe = await startTroupe(t);
    const body = { agentId: 'slow', threadId: 'T', messages: user('Hello') };
    const cut = await stream(troupe, body, key('run'));
    while (!cut.raw().includes('partial')) await cut.next();
    await cut.close();
    const joined = await stream(troupe, body, key('run'));
    t.ok(isReplay(joined));
    while (!joined.raw().includes('partial')) await joined.next();
    troupe.models.releaseAll();
    await rest(joined);
    const live = joined
      .raw()
      .split('\n\n')
      .filter((block) => block.startsWith('data: '));
    t.equal(typesIn(live)[0], 'run_start');
    t.equal(typesIn(live).at(-1), 'run_finish');
    const logged = await rest(await stream(troupe, body, key('run')));
    t.equal(idsIn(logged), idsIn(live));
    t.equal(typesIn(logged)[0], 'run_start');
    t.equal(typesIn(logged).at(-1), 'run_finish');
    const textOf = (blocks: readonly string[]): string =>
      blocks
        .map((block) => JSON.parse(block.slice(6)))
        .map(({ delta = '' }) => delta)
        .join('');
    t.equal(textOf(logged), textOf(live));
    await troupe.restart();
    t.strictSame(await rest(await stream(troupe, body, key('run'))), logged);
    t.equal(((await troupe.call('GET', '/v1/runs')).body.items as unknown[]).length, 1);
  },
);

t.test('streams a run that a later process has resumed', async (t) => {
  const troupe = await startTroupe(t);
  const body = { agentId: 'slow', threadId: 'T', messages: user('Hello') };
  const cut = await stream(troupe, body, key('run'));
  while (!cut.raw().includes('partial')) await cut.next();
  await cut.close();
  await troupe.restart();
  const waiting = stream(troupe, body, key('run'));
  await eventually(
    async () => troupe.models.waiting(),
    (number) => number > 0,
  );
  troupe.models.releaseAll();
  const blocks = await rest(await waiting);
  t.equal(typesIn(blocks).filter((type) => type === 'run_start').length, 1);
  t.equal(typesIn(blocks).at(-1), 'run_finish');
});

t.test('streams only the part of a run that answers the request', async (t) => {
  const { troupe } = await withTools(t);
  const { run_id } = await suspend(troupe, 'S', ['c1', 'risky']);
  await troupe.post(`/v1/runs/${run_id}/decision`, {
    toolCallId: 'c1',
    action: 'resume',
    payload: { approved: true },
  });
  await eventually(
    async () => (await troupe.call('GET', `/v1/runs/${run_id}`)).body.status,
    (status) => status === 'done',
  );
  const body = { agentId: 'echo', threadId: 'S', messages: user('next') };
  await rest(await stream(troupe, body, key('next')));
  const again = await rest(await stream(troupe, body, key('next')));
  t.not(idsIn(again), run_id);
  t.equal(typesIn(again).filter((type) => type === 'run_finish').length, 1);
});

t.test('streams the end and the text of a run whose events are not logged', async (t) => {
  const troupe = await startTroupe(t, { settings: { event_capture_mode: 'disabled' } });
  const body = { agentId: 'echo', messages: user('Hello') };
  await rest(await stream(troupe, body, key('run')));
  const again = await rest(await stream(troupe, body, key('run')));
  t.strictSame(typesIn(again), ['run_start', 'step_start', 'text_delta', 'step_end', 'run_finish']);
  t.match(again.join(), 'echo: Hello');
});

t.test('executes one of two requests at once, and both receive its response (check 44)', async (t) => {
  const troupe = await startTroupe(t);
  const sent = await Promise.all(
    Array.from({ length: 20 }, () => send(troupe, '/v1/threads', { title: 'one' }, key('both'))),
  );
  t.equal(new Set(sent.map(({ text }) => text)).size, 1);
  t.equal(sent.filter((each) => !isReplay(each)).length, 1);
  t.equal(await count(troupe, '/v1/threads'), 1);
  const body = { agentId: 'echo', messages: user('Hello') };
  const runs = await Promise.all(
    Array.from({ length: 5 }, async () => rest(await stream(troupe, body, key('runs')))),
  );
  for (const run of runs) t.strictSame(run, runs[0]);
});

t.test('executes the corrected request after a refused one (check 45)', async (t) => {
  const troupe = await startTroupe(t);
  const body = (agentId: string) => ({ agentId, messages: user('Hello') });
  t.equal((await send(troupe, '/v1/runs', body('nobody'), key('k'))).status, 400);
  const corrected = await send(troupe, '/v1/runs', body('echo'), key('k'));
  t.equal(corrected.status, 200);
  t.notOk(isReplay(corrected));
  t.equal((await send(troupe, '/v1/threads/none/messages', {}, key('m'))).status, 404);
  t.equal((await send(troupe, '/v1/threads', {}, key('m'))).status, 201);
});

t.test('rejects illegal keys, and takes a quoted one for the same as a bare one (check 47)', async (t) => {
  const troupe = await startTroupe(t);
  for (const value of ['', '""', 'x'.repeat(256), 'caf\u00e9s', '\u00e9', '"a', 'a b', '"a";b=1', '"a\\b"']) {
    const { status, text } = await send(troupe, '/v1/threads', {}, key(value));
    t.equal(status, 400, value);
    t.match(text, 'Idempotency-Key: ', value);
  }
  t.equal(await count(troupe, '/v1/threads'), 0);
  const bare = await send(troupe, '/v1/threads', {}, key('a-b'));
  const quoted = await send(troupe, '/v1/threads', {}, key('"a-b"'));
  t.equal(quoted.text, bare.text);
  t.ok(isReplay(quoted));
  t.equal((await send(troupe, '/v1/threads', {}, key('x'.repeat(255)))).status, 201);
});

t.test('executes a request again after the retention of its key (check 48)', async (t) => {
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => performance.now() };
  const troupe = await startTroupe(t, { app: { clock } });
  const first = await send(troupe, '/v1/threads', {}, key('k'));
  now += 86_400_000 - 1;
  t.equal((await send(troupe, '/v1/threads', {}, key('k'))).text, first.text);
  now += 1;
  const second = await send(troupe, '/v1/threads', {}, key('k'));
  t.not(second.text, first.text);
  t.notOk(isReplay(second));
  await troupe.restart();
  t.equal((await send(troupe, '/v1/threads', {}, key('k'))).text, second.text, 'the later row is kept');
  now += 86_400_000;
  await troupe.restart();
  t.notOk(isReplay(await send(troupe, '/v1/threads', {}, key('k'))));
});

t.test('ignores the key of other requests (check 49)', async (t) => {
  const troupe = await startTroupe(t);
  const { body } = await troupe.post('/v1/threads', {});
  const path = `/v1/threads/${body.id}`;
  for (const title of ['one', 'two']) {
    const changed = await troupe.call('PATCH', path, { title }, key('k'));
    t.match(changed.body, { metadata: { title } });
    t.match((await troupe.call('GET', path, undefined, key('k'))).body, { metadata: { title } });
  }
  t.equal((await troupe.call('DELETE', path, undefined, key('k'))).status, 204);
  t.equal((await send(troupe, `${path}/interrupt`, '', key(''))).status, 404);
});

t.test('makes a long response again from what was created', async (t) => {
  const troupe = await startTroupe(t);
  const title = 'x'.repeat(70_000);
  const first = await send(troupe, '/v1/threads', { title }, key('long'));
  const again = await send(troupe, '/v1/threads', { title }, key('long'));
  t.equal(again.text, first.text);
  t.ok(isReplay(again));
  await troupe.call('DELETE', `/v1/threads/${JSON.parse(first.text).id}`);
  t.equal((await send(troupe, '/v1/threads', { title }, key('long'))).status, 404);
});

t.test('lets pages of allowed origins send the key and read that a response is a replay', async (t) => {
  const troupe = await startTroupe(t);
  const origin = 'http://localhost:3002';
  const preflight = await ask(`${troupe.url}/v1/threads`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  t.match(preflight.headers.get('access-control-allow-headers'), /\bidempotency-key\b/);
  const { headers } = await send(troupe, '/v1/threads', {}, { origin });
  t.match(headers.get('access-control-expose-headers'), /\bidempotency-replayed\b/);
});

/** They create nothing that outlives them, or have the same effect when they are repeated (runtime.md 0.8). */
const IGNORED = [
  // Accounts of users, which people connect in a browser.
  'confirmAuthorization',
  'connect',
  'startAuthorization',
  // Credentials in memory, and sessions.
  'createTicket',
  'signIn',
  'signOutUser',
  // Ends of work: twice is once.
  'cancelA2aTask',
  'cancelA2aTaskOfTenant',
  'cancelChatThread',
  'cancelEvalRun',
  'cancelOpenAiResponse',
  'cancelRun',
  'cancelThread',
  'drainMember',
  'interruptAgUiThread',
  'interruptChatThread',
  'interruptThread',
  // Dry runs, and changes that a repeat does not change again.
  'acceptMcpTools',
  'pinTrace',
  'previewAgentOverrides',
  'previewProvider',
  'restartMcpServer',
  'restoreConfigEntry',
  'testProvider',
  'updateOpenAiConversation',
  'validateConfigEntry',
  // Runs of which nothing is stored.
  'previewAgent',
  'runAssistant',
  'tryTool',
  // Messages of MCP have ids within their session, and a subscription only reads.
  'postMcpMessage',
  'subscribeToA2aTask',
  'subscribeToA2aTaskOfTenant',
];

t.test('documents the key on every POST route that creates or submits', async (t) => {
  const troupe = await startTroupe(t, { settings: traced() });
  const { paths } = (await troupe.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, { operationId: string; parameters?: { $ref?: string }[] }>>;
  };
  const withKey = (method: string): Record<string, boolean> =>
    Object.fromEntries(
      Object.values(paths).flatMap((methods) =>
        Object.entries(methods)
          .filter(([name]) => (name === 'post') === (method === 'post'))
          .map(([, { operationId, parameters = [] }]) => [
            operationId,
            parameters.some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey'),
          ]),
      ),
    );
  const ignoring = Object.entries(withKey('post')).flatMap(([id, accepts]) => (accepts ? [] : [id]));
  t.strictSame(ignoring.sort(), [...IGNORED].sort());
  t.notOk(Object.values(withKey('other')).includes(true), 'no other method accepts a key');
});
