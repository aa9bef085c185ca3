import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { installTime } from '../../property/time.ts';
import { hangs } from '../models.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe } from '../troupe.ts';
import { type McpSession, mcpClient, rpc, text } from './mcp.ts';

/** Sessions: mcp.md A6, A7 and A10, checks 10, 20 to 24, 33 and 34. */

const runs = async ({ call }: Troupe, status: string): Promise<{ run_id: string; thread_id: string }[]> =>
  (await call('GET', `/v1/runs?status=${status}`)).body.items as never;

const cancelled = (session: McpSession, requestId: unknown) =>
  session.notify('notifications/cancelled', { requestId, reason: 'changed my mind' });

t.test('filters the messages of a session by logging/setLevel', async (t) => {
  const { url } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  const other = await mcpClient(() => url).open();
  t.strictSame((await session.ask('logging/setLevel', { level: 'warning' })).result, {});
  const levels = async ({ callToEnd }: McpSession, name = 'echo') =>
    (await callToEnd(name, { message: 'x' })).before.map(({ params }) => params?.level);
  t.strictSame(await levels(session), []);
  t.strictSame(await levels(other), ['info', 'info', 'debug', 'notice'], 'another session has another level');
  await session.ask('logging/setLevel', { level: 'notice' });
  t.strictSame(await levels(session), ['notice']);
  for (const params of [{ level: 'loud' }, { level: 3 }, {}, undefined]) {
    t.match(await session.ask('logging/setLevel', params), {
      error: { code: -32602, message: /^level must be/ },
    });
  }
  t.strictSame(await levels(session), ['notice'], 'a rejected level changes nothing');
});

t.test('executes requests of a session concurrently, each with its own response', async (t) => {
  const troupe = await startTroupe(t);
  const session = await mcpClient(() => troupe.url).open();
  const calls = await Promise.all(
    ['a', 'b', 3, '3'].map((id) => session.call('slow', { message: String(id) }, { id })),
  );
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 4,
  );
  t.strictSame((await session.ask('ping')).result, {});
  const again = await session.post(rpc('a', 'ping'));
  t.equal(again.status, 400);
  t.match(again.body, { id: 'a', error: { code: -32600, message: 'request id is in use: "a"' } });
  troupe.models.releaseAll();
  for (const [index, id] of ['a', 'b', 3, '3'].entries()) {
    const answer = (await calls[index]?.rest())?.at(-1);
    t.strictSame([answer?.id, text(answer ?? {})], [id, 'partial answer']);
  }
  t.equal((await session.post(rpc('a', 'ping'))).status, 200, 'an id can be reused after its response');
});

t.test('ends a cancelled call without a response, together with its run', async (t) => {
  const troupe = await startTroupe(t);
  const session = await mcpClient(() => troupe.url).open();
  const stream = await session.call('slow', { message: 'x' }, { id: 'gone' });
  const other = await session.call('slow', { message: 'y' }, { id: 'stays' });
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 2,
  );
  for (const unknown of ['no-such', 7, null, {}, undefined]) {
    t.equal((await cancelled(session, unknown)).status, 202);
  }
  t.equal((await session.notify('notifications/cancelled')).status, 202);
  t.equal(troupe.models.waiting(), 2);
  const answer = await cancelled(session, 'gone');
  t.strictSame([answer.status, answer.text], [202, '']);
  t.notMatch(await stream.rest(), [{ id: 'gone' }]);
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  const [run] = await eventually(
    () => runs(troupe, 'done'),
    ({ length }) => length === 1,
  );
  t.match((await troupe.call('GET', `/v1/runs/${run?.run_id}`)).body, {
    termination_reason: { type: 'cancelled' },
  });
  troupe.models.releaseAll();
  t.equal(text((await other.rest()).at(-1) ?? {}), 'partial answer');
});

t.test('continues a call whose client disconnects', async (t) => {
  const troupe = await startTroupe(t);
  const session = await mcpClient(() => troupe.url).open();
  const stream = await session.call('slow', { message: 'x' });
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  await stream.close();
  await pause(0);
  troupe.models.releaseAll();
  const [run] = await eventually(
    () => runs(troupe, 'done'),
    ({ length }) => length === 1,
  );
  const { body } = await troupe.call('GET', `/v1/runs/${run?.run_id}`);
  t.match(body, { termination_reason: { type: 'natural_end' }, final_output: 'partial answer' });
});

t.test('ends the calls of a deleted session only', async (t) => {
  const troupe = await startTroupe(t);
  const { open } = mcpClient(() => troupe.url);
  const [one, two] = [await open(), await open()];
  const calls = [
    await one.call('slow', { message: 'x' }, { id: 1 }),
    await two.call('slow', { message: 'x' }, { id: 1 }),
  ];
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 2,
  );
  t.equal((await cancelled(two, 'no-such')).status, 202);
  t.equal(
    (await two.post({ jsonrpc: '2.0', id: 1, result: {} })).status,
    202,
    'a response without a request is ignored',
  );
  t.equal((await one.end()).status, 204);
  t.notMatch(await calls[0]?.rest(), [{ id: 1 }]);
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  troupe.models.releaseAll();
  t.equal(text((await calls[1]?.rest())?.at(-1) ?? {}), 'partial answer');
});

t.test('binds a session to one scope', async (t) => {
  const { url } = await startTroupe(t, {
    app: { resolveScope: (_surface, { header }) => header('x-tenant') ?? 'none' },
  });
  const { post } = mcpClient(() => url);
  const { headers } = await post(rpc(1, 'initialize', {}), { 'x-tenant': 'a' });
  const id = headers.get('mcp-session-id') ?? '';
  const of = (tenant: string) => ({ 'x-tenant': tenant, 'mcp-session-id': id });
  t.equal((await post(rpc(2, 'ping'), of('b'))).status, 404);
  t.equal((await post(rpc(2, 'ping'), of('a'))).status, 200);
});

t.test('expires an idle session but not a busy one', async (t) => {
  const troupe = await startTroupe(t, { settings: { mcp_session_idle_secs: 60 } });
  const { open } = mcpClient(() => troupe.url);
  const time = installTime();
  t.teardown(time.uninstall);
  const advance = (seconds: number) => time.advance(seconds * 1000, async () => {});
  const [idle, used, busy] = [await open(), await open(), await open()];
  const stream = await busy.call('slow', { message: 'x' });
  await until(() => troupe.models.waiting() === 1);
  await advance(59);
  t.equal((await used.notify('notifications/initialized')).status, 202);
  await advance(2);
  t.equal((await idle.post(rpc(1, 'ping'))).status, 404);
  t.equal((await used.post(rpc(1, 'ping'))).status, 200);
  await advance(120);
  t.equal((await used.post(rpc(1, 'ping'))).status, 404);
  t.equal((await busy.post(rpc('p', 'ping'))).status, 200);
  troupe.models.releaseAll();
  await stream.rest();
  await advance(61);
  t.equal((await busy.post(rpc(1, 'ping'))).status, 404);
});

/** Polls while timers are faked. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

t.test('evicts the session that was idle longest for a new one', async (t) => {
  const troupe = await startTroupe(t, { settings: { mcp_session_max: 3 } });
  const { open, post } = mcpClient(() => troupe.url);
  const [first, second, third] = [await open(), await open(), await open()];
  await first.ask('ping');
  const fourth = await open();
  const known = async (session: McpSession) =>
    (await session.post({ jsonrpc: '2.0', id: 9, result: {} })).status;
  t.strictSame([await known(second), await known(third), await known(first)], [404, 202, 202]);
  const streams = await Promise.all(
    [first, third, fourth].map((session) => session.call('slow', { message: 'x' })),
  );
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 3,
  );
  const refused = await post(rpc(1, 'initialize', {}));
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('mcp-session-id'), null);
  t.match(refused.body, { jsonrpc: '2.0', error: { code: -32603 }, id: null });
  troupe.models.releaseAll();
  for (const stream of streams) t.equal(text((await stream.rest()).at(-1) ?? {}), 'partial answer');
  t.equal((await post(rpc(1, 'initialize', {}))).status, 200);
});

t.test('notifies each session once of a published agent', async (t) => {
  const { url, models, call } = await startTroupe(t);
  const { open } = mcpClient(() => url);
  const [one, idle] = [await open(), await open()];
  const streams = [await one.call('slow', { message: 'x' }), await one.call('slow', { message: 'y' })];
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 2,
  );
  const write = (method: string, path: string, body: object) =>
    call(method, `/v1/config/agents${path}`, body, { authorization: `Bearer ${ADMIN_TOKEN}` });
  t.equal((await write('POST', '', { id: 'brand-new', model_id: 'echo' })).status, 201);
  await write('PUT', '/brand-new', { id: 'brand-new', model_id: 'echo', system_prompt: 'other' });
  models.releaseAll();
  const told = (await Promise.all(streams.map((stream) => stream.rest()))).flat();
  const changes = told.filter(({ method }) => method === 'notifications/tools/list_changed');
  t.equal(changes.length, 1, 'a change outside of the set of agents is not reported');
  for (const session of [one, idle]) {
    const { result } = await session.ask('tools/list');
    const tools = (result?.tools ?? []) as { name: string }[];
    t.ok(tools.some(({ name }) => name === 'brand-new'));
    t.equal(text((await session.callToEnd('brand-new', { message: 'hi' })).answer), 'echo: hi');
  }
});

t.test('shows sessions to operators without their ids', async (t) => {
  const troupe = await startTroupe(t);
  const session = await mcpClient(() => troupe.url).open();
  const seen = async () => (await troupe.admin('GET', '/v1/system/actors?machine=mcp-session')).body;
  t.match(await seen(), { items: [{ machine: 'mcp-session', state: 'open.idle' }] });
  t.notOk(JSON.stringify(await seen()).includes(session.id));
  const stream = await session.call('slow', { message: 'x' });
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  t.match(await seen(), { items: [{ state: 'open.busy' }] });
  troupe.models.releaseAll();
  await stream.rest();
  await session.end();
  t.strictSame((await seen()).items, []);
});

t.test('ends calls and sessions on stop, and resumes their runs after a restart', async (t) => {
  const troupe = await startTroupe(t);
  const session = await mcpClient(() => troupe.url).open();
  troupe.models.steps.push(hangs('so far'), (sink) => {
    sink.text('at last');
    return { stop: 'EndTurn' };
  });
  const stream = await session.call('steps', { message: 'x' });
  const [going] = await eventually(
    () => runs(troupe, 'running'),
    ({ length }) => length === 1,
  );
  await troupe.restart();
  const answer = (await stream.rest()).at(-1) ?? {};
  t.match(text(answer), `run ${going?.run_id} of agent steps on thread ${going?.thread_id} continues`);
  const about = { run_id: going?.run_id, thread_id: going?.thread_id, status: 'running' };
  t.match(answer, { result: { isError: false, _meta: { 'troupe/run': about } } });
  t.equal((await session.post(rpc(1, 'ping'))).status, 404);
  const [run] = await eventually(
    () => runs(troupe, 'done'),
    ({ length }) => length === 1,
  );
  t.match((await troupe.call('GET', `/v1/runs/${run?.run_id}`)).body, { final_output: 'at last' });
});
