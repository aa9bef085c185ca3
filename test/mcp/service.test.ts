import t from 'tap';
import { freePort } from '../ports.ts';
import { type Plane, planeOf, startPlane } from '../service/config/plane.ts';
import { asks, type Call } from '../service/models.ts';
import { eventually, type RunEventLike, startTroupe } from '../service/troupe.ts';
import { startPeer } from './http-peer.ts';
import { EAGER, http, SERVER, stdio } from './manage.ts';

/** MCP servers for operators and agents: mcp.md B1, B10 to B13, checks 40 to 49, 56, 58, 60. */

const idsOfTools = async ({ get }: Plane): Promise<string[]> => {
  const { body } = await get('/v1/capabilities');
  const tools = Array.isArray(body.tools) ? body.tools : [];
  return tools.filter(({ source }) => source.kind === 'mcp').map(({ id }) => id);
};

const statusOf = async ({ get }: Plane, id: string) => (await get(`/v1/mcp-servers/${id}/status`)).body;

const GO = { agentId: 'user', messages: [{ role: 'user', content: 'go' }] };

/** An agent whose model executes the `steps` of the test. */
const agent = (id: string, more: object = {}) => ({ id, model_id: 'steps', ...more });

/** The results of the calls of a run, by id. */
const resultsOf = (events: readonly RunEventLike[]): Record<string, unknown> =>
  Object.fromEntries(
    events.flatMap(({ event_type, id, result }) => (event_type === 'tool_call_done' ? [[id, result]] : [])),
  );

const calling = async ({ troupe }: Plane, ...calls: Call[]): Promise<Record<string, unknown>> => {
  troupe.models.steps.push(asks(...calls));
  return resultsOf(await troupe.runToEnd(GO));
};

t.test('lets an agent call the tool of a newly created server', async (t) => {
  const plane = await startPlane(t);
  const { troupe, get, post, put } = plane;
  const created = await post(
    '/v1/config/mcp-servers',
    stdio('my-server', { TOOLS: 'echo,work', TOKEN: 'secret' }),
  );
  t.match(created, { status: 201, body: { has_env: true, env_keys: ['TOKEN', 'TOOLS'] } });
  t.strictSame(await idsOfTools(plane), ['mcp__my_server__echo', 'mcp__my_server__work']);
  const { body } = await get('/v1/capabilities');
  t.match(
    (body.tools as { id: string }[]).find(({ id }) => id === 'mcp__my_server__echo'),
    { name: 'echo', description: 'MCP tool echo', source: { kind: 'mcp', id: 'my_server' } },
  );
  await post('/v1/config/agents', agent('user', { allowed_tool_patterns: ['mcp__my-server__*'] }));
  troupe.models.steps.push(
    asks(
      ['c1', 'mcp__my_server__echo', { message: 'from afar' }],
      ['c2', 'mcp__my_server__work', { times: 5 }],
    ),
  );
  const events = await troupe.runToEnd(GO);
  t.match(resultsOf(events), { c1: { data: 'from afar' }, c2: { data: 'worked' } });
  const shown = events.filter(({ activity_type }) => activity_type === 'tool-call-progress');
  t.ok(shown.some(({ content }) => (content as { progress?: number }).progress === 1));
  await put('/v1/config/agents/user', agent('user', { excluded_tool_patterns: ['mcp__my-server__*'] }));
  t.match(await calling(plane, ['c3', 'mcp__my_server__echo', { message: 'x' }]), {
    c3: { message: /not found/ },
  });
  const metrics = await troupe.call('GET', '/metrics');
  t.match(String(metrics.body.text), /service_mcp_calls_total\{server="my-server",outcome="ok"\} 2/);
  t.match(String(metrics.body.text), /service_mcp_connection_state\{server="my-server",state="ready"\} 1/);
});

t.test('returns a status with all keys at once, without the session id', async (t) => {
  const plane = await startPlane(t);
  const peer = await startPeer(t);
  await plane.post('/v1/config/mcp-servers', http('far', peer.url));
  const status = await statusOf(plane, 'far');
  t.match(status, {
    connected: true,
    last_error: null,
    tools: [{ name: 'echo', description: null }],
    consecutive_failures: 0,
    reconnecting: false,
    permanently_failed: false,
    session_generation: 1,
    transport_reconnect_count: 0,
  });
  for (const key of ['last_attempt_at', 'last_success_at', 'last_init_at']) {
    t.ok(Math.abs(Number(status[key]) - Date.now() / 1000) < 60, key);
    t.ok(Number.isInteger(status[key]));
  }
  t.equal(Object.keys(status).length, 13);
  t.notMatch(JSON.stringify(status), /session-1/);
});

t.test('rejects an unreachable server without affecting others', async (t) => {
  const plane = await startPlane(t);
  await plane.post('/v1/config/mcp-servers', stdio('good'));
  const before = await statusOf(plane, 'good');
  const refused = await plane.post('/v1/config/mcp-servers', {
    id: 'bad',
    transport: 'stdio',
    command: '/no/such',
  });
  t.match(refused, {
    status: 400,
    body: {
      error:
        /^invalid payload: invalid managed config: failed to connect MCP servers: bad: mcp transport error: spawn \/no\/such ENOENT/,
    },
  });
  t.equal((await plane.get('/v1/config/mcp-servers/bad')).status, 404);
  t.match(await plane.get('/v1/mcp-servers/bad/status'), { status: 404, body: { error: 'mcp-server/bad' } });
  t.strictSame(await statusOf(plane, 'good'), before);
  const same = await plane.post('/v1/config/mcp-servers', stdio('a-b', { TOOLS: 'x' }));
  t.equal(same.status, 201);
  t.match(await plane.post('/v1/config/mcp-servers', stdio('a_b', { TOOLS: 'x' })), {
    status: 400,
    body: { error: /tool id already registered: mcp__a_b__x/ },
  });
});

t.test('keeps an omitted environment, and clears an empty one', async (t) => {
  const plane = await startPlane(t);
  const entry = stdio('s', { TOKEN: 'kept' });
  await plane.post('/v1/config/mcp-servers', entry);
  await plane.post('/v1/config/agents', agent('user', { allowed_tools: ['mcp__s__env'] }));
  const tokenOfChild = async (): Promise<unknown> => {
    const { c } = await calling(plane, ['c', 'mcp__s__env']);
    return JSON.parse((c as { data: string }).data).TOKEN;
  };
  const { env: _, ...withoutEnv } = entry;
  t.match(await plane.put('/v1/config/mcp-servers/s', { ...withoutEnv, timeout_secs: 9 }), {
    status: 200,
    body: { has_env: true },
  });
  t.equal(await tokenOfChild(), 'kept');
  const cleared = await plane.put('/v1/config/mcp-servers/s', { ...withoutEnv, env: {} });
  t.notOk('has_env' in cleared.body);
  t.equal(await tokenOfChild(), undefined);
});

t.test('starts without waiting for servers, and reports the failing ones', async (t) => {
  const peer = await startPeer(t, {}, await freePort());
  const plane = await startPlane(t);
  await plane.post('/v1/config/mcp-servers', stdio('live'));
  await plane.post('/v1/config/mcp-servers', http('dead', peer.url, EAGER));
  await plane.post('/v1/config/mcp-servers', stdio('hanging', {}, EAGER));
  await plane.put('/v1/config/agents/user', agent('user', { allowed_tool_patterns: ['mcp__*'] }));
  await peer.close();
  await plane.troupe.restart();
  const dead = await eventually(
    () => statusOf(plane, 'dead'),
    ({ last_error }) => last_error !== null,
  );
  t.match(dead, { connected: false, last_error: /ECONNREFUSED/, tools: [] });
  await eventually(
    () => idsOfTools(plane),
    (ids) => ids.some((id) => id.startsWith('mcp__live__')),
  );
  t.equal((await plane.post('/v1/config/agents', agent('other'))).status, 201, 'writes are accepted');
  await peer.open();
  await eventually(
    () => idsOfTools(plane),
    (ids) => ids.includes('mcp__dead__echo'),
  );
  await eventually(
    () => idsOfTools(plane),
    (ids) => ids.some((id) => id.startsWith('mcp__hanging__')),
  );
});

t.test('restarts a server at once and audits the restart', async (t) => {
  const plane = await startPlane(t);
  await plane.post('/v1/config/mcp-servers', stdio('s'));
  t.match(await plane.post('/v1/mcp-servers/s/restart'), { status: 202, body: { text: '' } });
  const back = await eventually(
    () => statusOf(plane, 's'),
    ({ connected, transport_reconnect_count }) => connected === true && transport_reconnect_count === 1,
  );
  t.match(back, { last_error: null, reconnecting: false });
  t.match(await plane.audit('?action=restart'), [{ resource: 'mcp-servers/s' }]);
  t.match(await plane.post('/v1/mcp-servers/other/restart'), {
    status: 404,
    body: { error: 'mcp-server/other' },
  });
  for (const [method, part] of [
    ['GET', 'status'],
    ['GET', 'inventory'],
    ['POST', 'restart'],
  ] as const) {
    t.equal((await plane.troupe.call(method, `/v1/mcp-servers/s/${part}`)).status, 401);
  }
});

t.test('lists the sorted inventory of one server, independent of others', async (t) => {
  const peer = await startPeer(t);
  const other = await startPeer(t);
  peer.on.initialize = ({ result }) =>
    result({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: 'p', version: '1' },
    });
  peer.on['prompts/list'] = ({ result }) =>
    result({
      prompts: [
        { name: 'z', title: 'Z', icons: [] },
        {
          name: 'a',
          arguments: [
            { name: 'x', description: 'an x' },
            { name: 'y', required: true },
          ],
        },
      ],
    });
  peer.on['resources/list'] = ({ result }) =>
    result({
      resources: [
        { uri: 'b://', name: 'b', size: 3 },
        { uri: 'a://', name: 'a', mimeType: 'text/plain' },
      ],
    });
  const plane = await startPlane(t);
  await plane.post('/v1/config/mcp-servers', http('full', peer.url));
  await plane.post('/v1/config/mcp-servers', http('plain', other.url));
  await other.close();
  const { status, body } = await plane.get('/v1/mcp-servers/full/inventory');
  t.equal(status, 200);
  const offered = { server_name: 'full', transport_type: 'http' };
  t.strictSame(body.prompts, [
    {
      ...offered,
      prompt: {
        name: 'a',
        arguments: [
          { name: 'x', description: 'an x', required: false },
          { name: 'y', required: true },
        ],
      },
    },
    { ...offered, prompt: { name: 'z', title: 'Z', arguments: [] } },
  ]);
  t.strictSame(body.resources, [
    { ...offered, resource: { uri: 'a://', name: 'a', mimeType: 'text/plain' } },
    { ...offered, resource: { uri: 'b://', name: 'b', size: 3 } },
  ]);
  t.match(await plane.get('/v1/mcp-servers/plain/inventory'), {
    status: 200,
    body: { prompts: [], resources: [] },
  });
  peer.on['prompts/list'] = ({ status: refuse }) => refuse(500, 'no prompts today');
  t.match((await plane.get('/v1/mcp-servers/full/inventory')).body, {
    prompts: [],
    resources: [],
    last_error: /HTTP error: 500 - no prompts today/,
  });
});

t.test('deletes a server that a skill uses, with its tools, only if forced', async (t) => {
  const plane = await startPlane(t);
  await plane.post('/v1/config/mcp-servers', stdio('demo', { TOOLS: 'echo' }));
  const skill = {
    id: 's',
    name: 'S',
    description: 'd',
    instructions_md: 'i',
    allowed_tools: ['mcp__*__echo'],
  };
  t.equal((await plane.post('/v1/config/skills', skill)).status, 201);
  t.match(await plane.del('/v1/config/mcp-servers/demo'), {
    status: 409,
    body: { used_by: [{ namespace: 'skills', id: 's' }] },
  });
  t.equal((await plane.del('/v1/config/mcp-servers/demo?force=true')).status, 204);
  t.strictSame(await idsOfTools(plane), []);
  t.equal((await plane.post('/v1/config/agents', agent('other'))).status, 201);
});

t.test('publishes tool changes of servers automatically', async (t) => {
  const peer = await startPeer(t);
  const plane = await startPlane(t);
  const policy = { restart_policy: { enabled: true, max_attempts: 1, delay_ms: 10 } };
  await plane.post('/v1/config/mcp-servers', stdio('grows', { TOOLS: 'grow' }));
  await plane.post('/v1/config/mcp-servers', http('p', peer.url, policy));
  await plane.post('/v1/config/agents', agent('user', { allowed_tool_patterns: ['mcp__*'] }));
  await calling(plane, ['c', 'mcp__grows__grow', { name: 'more' }]);
  await eventually(
    () => idsOfTools(plane),
    (ids) => ids.includes('mcp__grows__more'),
  );
  await peer.close();
  for (let times = 0; times < 3; times += 1) {
    await calling(plane, ['c', 'mcp__p__echo']);
  }
  await eventually(
    () => idsOfTools(plane),
    (ids) => !ids.includes('mcp__p__echo'),
  );
  t.match(await statusOf(plane, 'p'), { permanently_failed: true, tools: [] });
});

t.test('returns the UI resource with a result unless it takes too long', async (t) => {
  const peer = await startPeer(t);
  peer.on.initialize = ({ result }) =>
    result({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'p', version: '1' },
    });
  const _meta = { ui: { resourceUri: 'ui://form' } };
  peer.on['tools/list'] = ({ result }) =>
    result({ tools: [{ name: 'form', inputSchema: { type: 'object' }, _meta }] });
  peer.on['resources/read'] = ({ result }) => result({ contents: [{ uri: 'ui://form', text: '<form/>' }] });
  const plane = await startPlane(t);
  await plane.post('/v1/config/mcp-servers', http('p', peer.url));
  await plane.post('/v1/config/agents', agent('user', { allowed_tools: ['mcp__p__form'] }));
  const resultOf = async () => (await calling(plane, ['c', 'mcp__p__form', { a: 1 }])).c;
  t.match(await resultOf(), {
    metadata: {
      'mcp.server': 'p',
      'mcp.tool': 'form',
      'mcp.ui.resourceUri': 'ui://form',
      'mcp.ui.content': '<form/>',
      'mcp.ui.mimeType': 'text/html',
    },
  });
  peer.on['resources/read'] = () => {};
  t.notMatch(await resultOf(), { metadata: { 'mcp.ui.content': String } });
  t.equal((await statusOf(plane, 'p')).consecutive_failures, 0);
});

t.test('creates a built-in entry for the server of the setting', async (t) => {
  const commandLine = [process.execPath, SERVER, 'an argument'];
  const troupe = await startTroupe(t, { settings: { seed: { mcp_server_cmd: commandLine } } });
  const plane = planeOf(troupe);
  t.match((await plane.get('/v1/config/mcp-servers/mcp_demo')).body, {
    transport: 'stdio',
    command: process.execPath,
    args: [SERVER, 'an argument'],
  });
  await eventually(
    () => statusOf(plane, 'mcp_demo'),
    ({ connected }) => connected === true,
  );
});

t.test('lists a connection among the live actors', async (t) => {
  const plane = await startPlane(t);
  await plane.post('/v1/config/mcp-servers', stdio('s'));
  const { body } = await plane.get('/v1/system/actors?machine=mcp-connection');
  t.match(body.items, [{ id: 'mcp-connection:s', machine: 'mcp-connection', tags: ['connected', 'listed'] }]);
  await plane.del('/v1/config/mcp-servers/s');
  await eventually(
    () => plane.get('/v1/system/actors?machine=mcp-connection'),
    ({ body: { items } }) => Array.isArray(items) && items.length === 0,
  );
});

t.test('answers a sampling request with the model of the calling agent', async (t) => {
  const peer = await startPeer(t);
  const plane = await startPlane(t);
  await plane.post('/v1/config/mcp-servers', http('p', peer.url));
  await plane.post('/v1/config/agents', agent('user', { allowed_tools: ['mcp__p__echo'] }));
  peer.on['tools/call'] = ({ stream, message }) => {
    const write = stream();
    const content = { type: 'text', text: 'What is it?' };
    const messages = [{ role: 'user', content }];
    const params = { messages, systemPrompt: 'Be short.', temperature: 0.5, maxTokens: 7 };
    write({ id: 'q', method: 'sampling/createMessage', params });
    peer.on.response = ({ message: answer, status }) => {
      status(202);
      const text = JSON.stringify(answer.result);
      write({ id: message.id, result: { content: [{ type: 'text', text }] } });
    };
  };
  const { steps, requests } = plane.troupe.models;
  steps.push(asks(['c', 'mcp__p__echo']), (sink) => {
    sink.text('A teapot.');
    return { stop: 'EndTurn', usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } };
  });
  const { c } = resultsOf(await plane.troupe.runToEnd(GO));
  t.match(JSON.parse((c as { data: string }).data), {
    role: 'assistant',
    content: { type: 'text', text: 'A teapot.' },
    model: 'steps-upstream',
    stopReason: 'endTurn',
  });
  t.match(requests[1]?.request, {
    system: ['Be short.'],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }] }],
    tools: [],
    overrides: { temperature: 0.5, max_tokens: 7 },
  });
});
