import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import { asks, hangs } from '../models.ts';
import { withTools } from '../suspended.ts';
import { ADMIN_TOKEN, eventually, startTroupe } from '../troupe.ts';
import { mcpClient, type Rpc, text } from './mcp.ts';

/** Agents as tools: mcp.md A8 and A9, checks 9 to 19. */

type Listed = { name: string; description: string; inputSchema: { required: string[] } };

const toolsOf = ({ result }: Rpc): Listed[] => (result?.tools ?? []) as Listed[];

const INPUT = {
  type: 'object',
  properties: { message: { type: 'string', description: 'The user message to send to the agent' } },
  required: ['message'],
};

const isError = ({ result }: Rpc): unknown => result?.isError;

t.test('lists every agent as a tool with a description of at most 200 characters', async (t) => {
  const agent = (id: string, fields: object = {}) => ({ id, model_id: 'echo', ...fields });
  const { url, call } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  const add = async (spec: object): Promise<void> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    t.equal((await call('POST', '/v1/config/agents', spec, headers)).status, 201);
  };
  await add(agent('z-long', { description: 'x'.repeat(500) }));
  await add(agent('emoji', { description: '👩‍🚀'.repeat(100) }));
  await add(agent('exact', { description: '€'.repeat(200) }));
  await add(agent('blank'));
  await add(agent('prompted', { system_prompt: 'secret' }));
  await add(agent('told', { system_prompt: 'secret', description: 'Knows things.' }));
  const tools = toolsOf(await session.ask('tools/list', { cursor: 'x' }));
  const names = tools.map(({ name }) => name);
  t.strictSame(names, names.toSorted());
  const { body } = await call('GET', '/v1/capabilities', undefined, {
    authorization: `Bearer ${ADMIN_TOKEN}`,
  });
  t.strictSame(names, (body.agents as string[]).toSorted());
  const about = Object.fromEntries(tools.map(({ name, description }) => [name, description]));
  t.equal(about['z-long'], `${'x'.repeat(200)}…`);
  t.equal(about.emoji, `${[...'👩‍🚀'.repeat(100)].slice(0, 200).join('')}…`);
  t.equal(about.exact, '€'.repeat(200));
  t.equal(about.blank, 'Agent: blank');
  t.equal(about.prompted, 'Agent: prompted', 'the description does not quote the system prompt');
  t.equal(about.told, 'Knows things.');
  for (const tool of tools) {
    t.strictSame(Object.keys(tool).sort(), ['description', 'inputSchema', 'name']);
    t.strictSame(tool.inputSchema, INPUT);
  }
});

t.test('executes a call as a separate run, with progress and then the response', async (t) => {
  const { url, call } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  const stream = await session.call('echo', { message: 'Hello' }, { id: 'a-1' });
  t.equal(stream.status, 200);
  t.equal(stream.headers.get('content-type'), 'text/event-stream');
  t.equal(stream.headers.get('x-accel-buffering'), 'no');
  const messages = await stream.rest();
  const answer = messages.pop();
  t.strictSame(answer, {
    result: { content: [{ type: 'text', text: 'echo: Hello' }], isError: false },
    jsonrpc: '2.0',
    id: 'a-1',
  });
  t.notMatch(stream.raw(), /^id:/m, 'an unresumable stream has no event ids');
  t.strictSame(
    messages.map(({ method, params }) => [method, params?.level, params?.logger, params?.data]),
    [
      ['notifications/message', 'info', 'agent/echo', 'starting agent run'],
      ['notifications/message', 'info', 'agent/echo', 'step 1'],
      ['notifications/message', 'debug', 'agent/echo', messages[2]?.params?.data],
      ['notifications/message', 'notice', 'agent/echo', 'completed'],
    ],
  );
  t.match(messages[2]?.params?.data, /^inference complete: model=\S+ duration=\d+ms$/);

  const { body: threads } = await call('GET', '/v1/threads');
  const [id] = threads.items as string[];
  t.match(id, /^mcp-[0-9a-f]{8}-[0-9a-f]{4}-7/);
  const { body: history } = await call('GET', `/v1/threads/${id}/messages`);
  const roles = (history.messages as { role: string }[]).map(({ role }) => role);
  t.strictSame(roles, ['user', 'assistant']);
  const { body: run } = await call('GET', `/v1/threads/${id}/runs/latest`);
  t.match(run, { agent_id: 'echo', activation: { trace: { origin: 'mcp', adapter: 'mcp' } } });
});

t.test('reports the tool calls of the agent and their outcomes', async (t) => {
  const { troupe } = await withTools(t);
  const session = await mcpClient(() => troupe.url).open();
  troupe.models.steps.push(asks(['c1', 'note'], ['c2', 'no-such-tool']));
  const { answer, before } = await session.callToEnd('steps', { message: 'go' }, { progressToken: 'p' });
  t.equal(isError(answer), false);
  const lines = before
    .filter(({ method }) => method === 'notifications/message')
    .map(({ params }) => params?.data);
  const expected = ['step 1', 'calling tool: note', 'calling tool: no-such-tool', 'step 2', 'completed'];
  for (const line of [...expected, 'tool note completed: success', 'tool no-such-tool completed: error']) {
    t.ok(lines.includes(line), line);
  }
  const progress = before
    .filter(({ method }) => method === 'notifications/progress')
    .map(({ params }) => params);
  t.ok(progress.length > 0);
  const values = progress.map((each) => Number(each?.progress));
  t.ok(
    values.every((value, i) => i === 0 || value > (values[i - 1] ?? 0)),
    String(values),
  );
  t.equal(values.at(-1), 4, 'two steps and two calls are reported');
  t.ok(progress.every((each) => each?.progressToken === 'p' && typeof each.message === 'string'));
});

t.test('reports progress with the unchanged token, and none without a token', async (t) => {
  const { url } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  const numbered = await session.callToEnd('echo', { message: 'x' }, { progressToken: 7 });
  const told = numbered.before.filter(({ method }) => method === 'notifications/progress');
  t.ok(told.length > 0);
  t.ok(told.every(({ params }) => params?.progressToken === 7));
  t.notMatch((await session.callToEnd('echo', { message: 'x' })).before, [
    { method: 'notifications/progress' },
  ]);
});

t.test('omits retracted text from the response', async (t) => {
  const { url, models } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  models.steps.push((sink) => {
    sink.text('wrong');
    sink.reset?.('again');
    sink.text('right');
    return { stop: 'EndTurn' };
  });
  t.equal(text((await session.callToEnd('steps', { message: 'x' })).answer), 'right');
  models.steps.push(() => ({ stop: 'EndTurn' }));
  t.equal(text((await session.callToEnd('steps', { message: 'x' })).answer), '(no response)');
});

t.test('returns the text of several steps as one text', async (t) => {
  const { troupe } = await withTools(t);
  const session = await mcpClient(() => troupe.url).open();
  troupe.models.steps.push(
    (sink, request, signal) => {
      sink.text('first ');
      return asks(['c1', 'note'])(sink, request, signal);
    },
    (sink) => {
      sink.text('second');
      return { stop: 'EndTurn' };
    },
  );
  t.equal(text((await session.callToEnd('steps', { message: 'x' })).answer), 'first second');
});

t.test('creates no run for an invalid call', async (t) => {
  const { url, call } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  const failed = (message: string) => ({
    result: { content: [{ type: 'text', text: message }], isError: true },
  });
  for (const args of [{}, { message: '' }, { message: 5 }, undefined]) {
    const { answer, before } = await session.callToEnd('echo', args);
    t.match(answer, failed("'message' parameter is required and must be non-empty"));
    t.strictSame(before, []);
  }
  for (const name of ['nobody', '', '__proto__']) {
    t.match((await session.callToEnd(name, { message: 'x' })).answer, failed(`Unknown tool: ${name}`));
  }
  const threads = await call('GET', '/v1/threads');
  t.strictSame(threads.body.items, []);
});

t.test('reports invalid parameters as a protocol error in the stream', async (t) => {
  const { url } = await startTroupe(t);
  const { id, stream } = { ...(await mcpClient(() => url).open()), ...mcpClient(() => url) };
  const cases: [params: unknown, message: string][] = [
    [undefined, 'Missing params'],
    [null, 'Missing params'],
    [{}, 'Missing tool name'],
    [{ name: 7 }, 'Missing tool name'],
    [[], 'Missing tool name'],
    [{ name: 'echo', arguments: 'x' }, "'arguments' must be an object"],
  ];
  for (const [params, message] of cases) {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', ...(params !== undefined && { params }) };
    const answered = await stream(request, { 'mcp-session-id': id });
    t.equal(answered.status, 200);
    t.strictSame(await answered.rest(), [{ jsonrpc: '2.0', error: { code: -32602, message }, id: 1 }]);
  }
});

t.test('reports how a run ended without success', async (t) => {
  const { troupe } = await withTools(t);
  const { url, models, post, call } = troupe;
  const session = await mcpClient(() => url).open();
  models.failures.push(new ModelError('invalid_request', 'no such model'));
  const broken = await session.callToEnd('flaky', { message: 'x' });
  t.match(text(broken.answer), /^agent run failed: .*no such model/);
  t.equal(isError(broken.answer), true);
  t.match(broken.before.at(-1)?.params, { level: 'error', data: text(broken.answer) });

  models.steps.push(asks(['c1', 'risky']));
  const suspended = await session.callToEnd('steps', { message: 'x' });
  t.strictSame([text(suspended.answer), isError(suspended.answer)], ['agent run suspended', true]);

  models.steps.push(hangs('so far'));
  const stream = await session.call('steps', { message: 'x' });
  await stream.until('notifications/message');
  const { body } = await eventually(
    () => call('GET', '/v1/runs?status=running'),
    (listed) => (listed.body.items as unknown[]).length === 1,
  );
  const [run] = body.items as { run_id: string }[];
  t.equal((await post(`/v1/runs/${run?.run_id}/cancel`)).status, 202);
  const answer = (await stream.rest()).at(-1) ?? {};
  t.strictSame([text(answer), isError(answer)], ['agent run cancelled', true]);
});

t.test('serves health as a method', async (t) => {
  const { url } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  const { result } = await session.ask('health/check');
  t.match(result, { status: 'healthy', server_name: 'troupe-mcp', tool_count: 5 });
  t.ok(Number.isInteger(result?.uptime_seconds));
});
