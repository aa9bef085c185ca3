import t from 'tap';
import { hangs } from '../models.ts';
import { ADMIN_TOKEN, eventually, startTroupe } from '../troupe.ts';
import { mcpClient, type Rpc, rpc, text } from './mcp.ts';

/** The protocol revision without sessions on the same route: mcp.md C5. */

const VERSION = '2026-07-28';
const KEY = 'io.modelcontextprotocol';

const meta = (more: object = {}, version = VERSION) => ({
  [`${KEY}/protocolVersion`]: version,
  [`${KEY}/clientCapabilities`]: {},
  ...more,
});

const headersOf = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': VERSION,
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

const client = (url: string) => {
  const { post, stream } = mcpClient(() => url);
  return {
    ask: (method: string, params: object = {}) =>
      post(rpc(1, method, { ...params, _meta: meta() }), headersOf(method)),
    call: (name: string, args: object, more: object = {}, id: string | number = 1) =>
      stream(
        rpc(id, 'tools/call', { name, arguments: args, _meta: meta(more) }),
        headersOf('tools/call', name),
      ),
    post,
    stream,
  };
};

t.test('serves discovery and lists without a session, with their lifetime', async (t) => {
  const { url } = await startTroupe(t);
  const { ask } = client(url);
  const { status, headers, body } = await ask('server/discover');
  t.equal(status, 200);
  t.equal(headers.get('mcp-session-id'), null);
  t.match(body, {
    id: 1,
    result: {
      resultType: 'complete',
      supportedVersions: [VERSION],
      capabilities: { tools: { listChanged: true } },
      _meta: { [`${KEY}/serverInfo`]: { name: 'troupe-mcp' } },
    },
  });
  const listed = await ask('tools/list');
  t.match(listed.body.result, { resultType: 'complete', cacheScope: 'private' });
  t.ok(Number(listed.body.result?.ttlMs) >= 0);
  const names = ((listed.body.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
  t.ok(names.includes('echo'));
  t.strictSame(names, names.toSorted());
});

t.test('answers a call, and sends only the notifications that it requests', async (t) => {
  const { url, call: http } = await startTroupe(t);
  const { call } = client(url);
  const quiet = await (await call('echo', { message: 'Hi' })).rest();
  t.match(quiet, [{ id: 1, result: { resultType: 'complete', isError: false } }]);
  t.equal(quiet.length, 1);
  t.equal(text(quiet[0] ?? {}), 'echo: Hi');
  const more = { progressToken: 'p', [`${KEY}/logLevel`]: 'notice' };
  const told = await (await call('echo', { message: 'Hi' }, more)).rest();
  const levels = told
    .filter(({ method }) => method === 'notifications/message')
    .map(({ params }) => params?.level);
  t.strictSame(levels, ['notice']);
  t.ok(
    told.some(({ method, params }) => method === 'notifications/progress' && params?.progressToken === 'p'),
  );
  const { body } = await http('GET', '/v1/threads');
  t.match(body.items, [/^mcp-/, /^mcp-/]);
});

t.test('rejects contradictory or unsupported requests with their code', async (t) => {
  const { url } = await startTroupe(t);
  const { post } = client(url);
  const list = (params: object, headers: Record<string, string>) =>
    post(rpc(7, 'tools/list', params), headers);
  const cases: [answer: ReturnType<typeof list>, status: number, code: number][] = [
    [list({ _meta: meta() }, {}), 400, -32020],
    [list({ _meta: meta() }, headersOf('tools/call')), 400, -32020],
    [
      list(
        { _meta: meta({}, '2099-01-01') },
        { ...headersOf('tools/list'), 'mcp-protocol-version': '2099-01-01' },
      ),
      400,
      -32022,
    ],
    [list({}, headersOf('tools/list')), 400, -32602],
    [list({ _meta: { [`${KEY}/protocolVersion`]: VERSION } }, headersOf('tools/list')), 400, -32602],
    [post(rpc(7, 'no/such', { _meta: meta() }), headersOf('no/such')), 404, -32601],
    [post(rpc(7, 'initialize', { _meta: meta() }), headersOf('initialize')), 404, -32601],
    [post(rpc(7, 'ping', { _meta: meta() }), headersOf('ping')), 404, -32601],
  ];
  for (const [answer, status, code] of cases) {
    const { status: found, body } = await answer;
    t.strictSame([found, body.error?.code, body.id], [status, code, 7], JSON.stringify(body));
  }
  const unsupported = await cases[2]?.[0];
  t.strictSame(unsupported?.body.error?.data, { supported: [VERSION], requested: '2099-01-01' });
  t.equal((await post('{', headersOf('tools/list'))).status, 400);
});

t.test('streams a slow call, and cancels it when the client disconnects', async (t) => {
  const troupe = await startTroupe(t);
  const { call } = client(troupe.url);
  const [stream, other] = await Promise.all(['x', 'y'].map((message) => call('slow', { message })));
  t.equal(stream?.headers.get('content-type'), 'text/event-stream');
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 2,
  );
  await stream?.close();
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  troupe.models.releaseAll();
  t.equal(text((await other?.rest())?.at(-1) ?? {}), 'partial answer');
});

t.test('notifies subscribers when the set of agents changes', async (t) => {
  const { url, call } = await startTroupe(t);
  const { stream } = client(url);
  const method = 'subscriptions/listen';
  const notifications = { toolsListChanged: true };
  const listening = await stream(rpc('s', method, { notifications, _meta: meta() }), headersOf(method));
  t.equal(listening.status, 200);
  t.match(await listening.next(), { method: 'notifications/subscriptions/acknowledged' });
  await call(
    'POST',
    '/v1/config/agents',
    { id: 'fresh', model_id: 'echo' },
    { authorization: `Bearer ${ADMIN_TOKEN}` },
  );
  t.match(await listening.next(), { method: 'notifications/tools/list_changed' });
  await listening.close();
});

t.test('serves clients with and without a session on one route', async (t) => {
  const { url, models } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  models.steps.push(hangs());
  const hanging = await session.call('steps', { message: 'x' });
  t.equal(text((await (await client(url).call('echo', { message: 'Hi' })).rest()).at(-1) as Rpc), 'echo: Hi');
  t.strictSame((await session.ask('ping')).result, {});
  await session.end();
  await hanging.rest();
});
