import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Json } from '../../src/tools/tool.ts';
import { bundled, nodeCommand } from '../child.ts';
import { EAGER, manage, SERVER, stdio } from './manage.ts';

/** MCP servers as child processes: mcp.md B4, B6, B7, B8, B9, checks 58 to 63, 65, 67 to 69. */

/** Treats an ended process that was not reaped as dead. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '');
  } catch {
    return false;
  }
};

const gone = async (pid: number): Promise<void> => {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
};

const started = async (t: Test, env: Record<string, string> = {}, more: object = {}) => {
  const managed = manage(t);
  await managed.start(stdio('s', env, { ...EAGER, ...more }));
  return {
    ...managed,
    pid: async () => Number((await managed.call('s', 'pid')).data),
  };
};

t.test('passes the environment of its entry to a child, and no variables of the service', async (t) => {
  process.env.SERVICE_ADMIN_API_BEARER_TOKEN = 'token-of-the-service';
  process.env.OPENAI_API_KEY = 'key-of-the-service';
  t.teardown(() => {
    delete process.env.SERVICE_ADMIN_API_BEARER_TOKEN;
    delete process.env.OPENAI_API_KEY;
  });
  const { call } = await started(t, { TOKEN: 'its-own' });
  const env = JSON.parse(String((await call('s', 'env')).data));
  t.match(env, { TOKEN: 'its-own', PATH: process.env.PATH });
  t.strictSame(
    Object.keys(env).filter((name) => /SERVICE|OPENAI|NODE|npm/.test(name)),
    [],
  );
});

t.test('sends the config of an entry with the initialization, if any', async (t) => {
  const tools = { TOOLS: 'init' };
  const plain = await started(t, tools);
  const told = JSON.parse(String((await plain.call('s', 'init')).data));
  t.match(told, { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'troupe' } });
  t.notOk('config' in told);
  const { call } = await started(t, tools, { config: { root: '/data', deep: { a: [1] } } });
  t.match(JSON.parse(String((await call('s', 'init')).data)), {
    config: { root: '/data', deep: { a: [1] } },
  });
});

t.test('identifies the agent of a call', async (t) => {
  const { call } = await started(t, { TOOLS: 'seen' });
  const seen = JSON.parse(String((await call('s', 'seen', {}, { agent_id: 'helper' })).data));
  t.strictSame(
    seen.map(({ method }: { method: string }) => method),
    ['initialize', 'notifications/initialized', 'tools/list', 'tools/call'],
  );
  t.match(seen[3].params, {
    name: 'seen',
    arguments: {},
    _meta: {
      progressToken: Number,
      'service/attribution': { agent_id: 'helper', thread_id: 't1', run_id: 'r1', call_id: 'c1' },
    },
  });
});

t.test('detects a dead child at once and restarts it', async (t) => {
  const { manager, call, until, pid } = await started(t);
  const first = await pid();
  const dying = call('s', 'die');
  t.match(await dying, {
    status: 'error',
    message: 'Execution failed: mcp transport error: connection closed',
  });
  t.match(manager.status('s'), { connected: false, last_error: /exited with code 3/ });
  t.equal(manager.status('s').tools.length, 10, 'the tools of the server are kept');
  const back = await until('s', ({ connected }) => connected);
  t.match(back, { transport_reconnect_count: 1, last_error: null, session_generation: 0 });
  t.not(await pid(), first);
  process.kill(await pid(), 'SIGKILL');
  t.match(await until('s', ({ connected }) => !connected), { last_error: /ended by SIGKILL/ });
  await until('s', ({ transport_reconnect_count }) => transport_reconnect_count === 2);
});

t.test('offers new tools soon, however often the server announces them', async (t) => {
  const { call, until, changes, tool, told } = await started(t, { TOOLS: 'grow,seen' });
  t.match(await call('s', 'grow', { name: 'my.tool' }), { data: 'grown' });
  await until('s', ({ tools }) => tools.length === 3);
  t.equal(tool('s', 'my.tool')?.descriptor.id, 'mcp__s__my_tool');
  const seen = JSON.parse(String((await call('s', 'seen')).data));
  const lists = seen.filter(({ method }: { method?: string }) => method === 'tools/list');
  t.ok(lists.length <= 3, `${lists.length} lists`);
  t.ok(changes.length <= 2);
  await call('s', 'grow', { name: 'my_tool' });
  await until('s', ({ left_out }) => left_out.length === 1);
  t.match(told.at(-1), /tool id already registered: mcp__s__my_tool/);
});

t.test('emits increasing progress, and survives a flood of it', async (t) => {
  const { call } = await started(t);
  const shown: number[] = [];
  const result = await call(
    's',
    'work',
    { times: 10_000 },
    { progress: ({ progress = -1 }) => shown.push(progress) },
  );
  t.match(result, { status: 'success', data: 'worked' });
  t.ok(shown.length > 0 && shown.length <= 200, `${shown.length} times`);
  t.ok(shown.every((value, index) => value >= 0 && value <= 1 && value >= (shown[index - 1] ?? 0)));
});

t.test('extends the time of a call on progress only', async (t) => {
  const { call, manager } = await started(t, { TOOLS: 'late,hang,seen' }, { timeout_secs: 3 });
  t.match(await call('s', 'late', { every: 500, times: 8 }), { status: 'success', data: 'late' });
  t.match(await call('s', 'hang'), {
    status: 'error',
    message: 'Timeout: mcp transport error: no answer within 3 s',
    metadata: { timed_out: true },
  });
  t.match(manager.status('s'), { consecutive_failures: 1, connected: true });
  const seen = JSON.parse(String((await call('s', 'seen')).data));
  t.equal(seen.filter(({ method }: { method?: string }) => method === 'notifications/cancelled').length, 1);
  t.equal(manager.status('s').consecutive_failures, 0);
});

t.test('cancels the call of a cancelled run', async (t) => {
  const { call, calls, manager } = await started(t, { TOOLS: 'hang,seen' });
  const run = new AbortController();
  const hanging = call('s', 'hang', {}, { signal: run.signal });
  await call('s', 'seen');
  run.abort();
  t.match(await hanging, { status: 'error', message: /^Cancelled: / });
  const seen = JSON.parse(String((await call('s', 'seen')).data));
  const sent = seen.find(({ params }: { params?: { name?: string } }) => params?.name === 'hang');
  t.match(
    seen.find(({ method }: { method?: string }) => method === 'notifications/cancelled'),
    { params: { requestId: sent.id, reason: 'client run cancelled' } },
  );
  t.match(await call('s', 'hang', {}, { signal: run.signal }), { message: /^Cancelled: / });
  t.equal(manager.status('s').consecutive_failures, 0);
  t.strictSame(calls, ['s ok', 's cancelled', 's ok', 's cancelled']);
});

t.test('does not count error responses as connection failures', async (t) => {
  const { call, manager } = await started(t, { TOOLS: 'fail,nothing,deep' });
  for (let times = 0; times < 4; times += 1) {
    t.match(await call('s', 'fail'), {
      status: 'error',
      message: 'it did not work',
      data: 'it did not work',
      metadata: { 'mcp.result.isError': true },
    });
    t.match(await call('s', 'nothing'), {
      status: 'error',
      message: 'Execution failed: Server error: MCP Error: no tool nothing',
    });
    t.match(await call('s', 'deep'), { status: 'error', message: /nests deeper than/ });
  }
  t.match(manager.status('s'), { connected: true, consecutive_failures: 0, last_error: null });
});

t.test('reads a long line completely, and fails only the call of an oversized one', async (t) => {
  const { call, manager } = await started(t);
  t.equal((await call('s', 'big', { bytes: 500_000 })).data, 'x'.repeat(500_000));
  const [big, echo] = await Promise.all([
    call('s', 'big', { bytes: 50_000_000 }),
    call('s', 'echo', { message: 'beside it' }),
  ]);
  t.match(big, { status: 'error', message: /more than 4194304 bytes/ });
  t.match(echo, { status: 'success', data: 'beside it' });
  t.match(manager.status('s'), { connected: true, consecutive_failures: 0 });
});

t.test('answers requests of a child, or rejects them with a message', async (t) => {
  const { call } = await started(t);
  const ask = async (method: string, params: Json = {}) =>
    JSON.parse(String((await call('s', 'ask', { method, params })).data));
  t.match(await ask('ping'), { result: {} });
  t.match(await ask('sampling/createMessage', { messages: [], maxTokens: 1 }), {
    error: { code: -32_601, message: 'Sampling not supported by this client' },
  });
  t.match(await ask('roots/list'), {
    error: { code: -32_601, message: 'roots/list not supported (client did not advertise roots capability)' },
  });
  t.match(await ask('elicitation/create', { message: 'm' }), {
    error: { code: -32_601, message: 'Method not supported: elicitation/create' },
  });
  t.match(await ask('nobody/knows'), {
    error: { code: -32_601, message: 'Method not supported: nobody/knows' },
  });
});

t.test('rejects a request with an inexact integer', async (t) => {
  const { call } = await started(t);
  for (const method of ['sampling/createMessage', 'ping']) {
    const line = `{"jsonrpc":"2.0","id":"q1","method":"${method}","params":{"at":1234567890123456789}}`;
    const { data } = await call('s', 'lines', { lines: [line], waits: true });
    t.match(JSON.parse(String(data)), {
      id: 'q1',
      error: {
        code: -32_602,
        message: /^params\.at: the integer 1234567890123456789 cannot be kept exactly/,
      },
    });
  }
});

t.test('logs a notification with an inexact integer as a warning, once a second', async (t) => {
  const warned: object[] = [];
  const { start, call } = manage(t, {
    log: { debug() {}, warn: (_, fields = {}) => void warned.push(fields) },
  });
  await start(stdio('s'));
  const line =
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1234567890123456789}}';
  const begun = performance.now();
  await call('s', 'lines', { lines: Array(500).fill(line) });
  const seconds = Math.ceil((performance.now() - begun) / 1000);
  t.ok(warned.length > 0 && warned.length <= seconds + 1, `${warned.length} lines`);
  t.match(warned[0], {
    server: 's',
    told: /^notifications\/progress of the server was dropped: params\.progress: the integer 1234567890123456789/,
  });
  t.match(await call('s', 'echo', { message: 'x' }), { data: 'x' });
});

t.test('reads a child that prints garbage', async (t) => {
  const { call, told } = await started(t, { BEHAVIOUR: 'noisy' });
  t.match(await call('s', 'echo', { message: 'hi' }), { data: 'hi' });
  t.ok(told.length > 0 && told.length < 100, `${told.length} lines of the log`);
});

t.test('ends the child of a removed entry once its calls have ended', async (t) => {
  const { call, apply, pid, manager } = await started(t, { TOOLS: 'pid,late,echo' });
  const child = await pid();
  const late = call('s', 'late', { every: 20, times: 5 });
  const echo = manager
    .tools()
    .get('s')
    ?.find(({ descriptor }) => descriptor.name === 'echo');
  apply();
  t.match(await late, { data: 'late' });
  await gone(child);
  t.throws(() => manager.status('s'), { message: 'mcp-server/s' });
  await t.rejects(async () => echo?.execute({}, {} as never), { message: 'unknown mcp server: s' });
});

t.test('kills a child that ignores all requests with all its descendants', async (t) => {
  const { manager, apply, until } = manage(t);
  const script = `const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    process.env.GRANDCHILD = child.pid; import(${JSON.stringify(SERVER)});`;
  apply({
    id: 's',
    transport: 'stdio',
    command: process.execPath,
    args: ['-e', script],
    env: { BEHAVIOUR: 'stubborn' },
  });
  await until('s', ({ connected }) => connected);
  const tool = (name: string) =>
    manager
      .tools()
      .get('s')
      ?.find(({ descriptor }) => descriptor.name === name);
  const { callTool } = await import('../tools/call.ts');
  const run = async (name: string) => {
    const found = tool(name);
    return found && String((await callTool(found, {})).data);
  };
  const child = Number(await run('pid'));
  const grandchild = Number(JSON.parse((await run('env')) ?? '{}').GRANDCHILD);
  t.ok(isAlive(child) && isAlive(grandchild));
  await manager.close();
  t.notOk(isAlive(child));
  await gone(grandchild);
});

t.test('reports a failed connection to the writer of the entry, without its secrets', async (t) => {
  const { connect, told, manager, start, tool } = manage(t);
  await start(stdio('a-b', { TOOLS: 'x' }));
  const initialized = manager.status('a-b').last_init_at;
  await t.rejects(connect({ id: 'n', transport: 'stdio', command: '/nowhere/at-all' }), {
    message: /^mcp transport error: spawn \/nowhere\/at-all ENOENT/,
  });
  await t.rejects(connect(stdio('d', { BEHAVIOUR: 'dead', TOKEN: 'secret-of-the-entry' })), {
    message:
      /^mcp transport error: (the server exited with code 1: cannot start with \*\*\*|connection closed)$/,
  });
  await t.rejects(connect(stdio('h', { BEHAVIOUR: 'hanging' }, { timeout_secs: 1 })), {
    message: /within 1 s/,
  });
  await t.rejects(connect(stdio('l', { BEHAVIOUR: 'listless' })), { message: /no list/ });
  await t.rejects(connect(stdio('a_b', { TOOLS: 'x' })), {
    message: 'tool id already registered: mcp__a_b__x',
  });
  await t.rejects(connect(stdio('t', { TOOLS: 'my.tool,my-tool' })), {
    message: 'tool id already registered: mcp__t__my_tool',
  });
  await t.rejects(connect(stdio('e', { TOOLS: '---' })), {
    message: 'invalid tool id component after sanitization: ---',
  });
  t.notMatch(told.join(), /secret-of-the-entry/);
  t.match(manager.status('a-b'), { connected: true, last_init_at: initialized });
  t.equal(tool('a-b', 'x')?.descriptor.metadata?.['mcp.transport'], 'stdio');
});

t.test('keeps the child of an unchanged entry, and replaces that of a changed one', async (t) => {
  const { apply, connect, call, until } = manage(t);
  const [one, two] = [stdio('one'), stdio('two')];
  apply(one, two);
  await until('one', ({ connected }) => connected);
  await until('two', ({ connected }) => connected);
  const pids = async () => [(await call('one', 'pid')).data, (await call('two', 'pid')).data];
  const before = await pids();
  const changed = stdio('two', { TOKEN: 'x' });
  const { tools, discard } = await connect(changed);
  t.equal(tools.length, 10);
  apply(one, changed);
  discard();
  const after = await pids();
  t.equal(after[0], before[0]);
  t.not(after[1], before[1]);
  await gone(Number(before[1]));
});

t.test('closes a discarded connection', async (t) => {
  const { connect } = manage(t);
  const { tools, discard } = await connect(stdio('s'));
  const { callTool } = await import('../tools/call.ts');
  const pid = tools.find(({ descriptor }) => descriptor.name === 'pid');
  // It cannot be called before it is live, so its process id is unknown.
  t.match(pid && (await callTool(pid, {})), { message: 'Execution failed: unknown mcp server: s' });
  discard();
  discard();
});

t.test('reports the exit code and the last output of a child that exits early', async (t) => {
  const { connect } = manage(t);
  const program = 'console.error("no database"); process.exit(7)';
  const entry = stdio('s', {}, { args: ['-e', program] });
  await t.rejects(connect(entry), { message: /exited with code 7: no database$/ });
});

t.test('keeps one connection after two equal concurrent writes, whichever goes live', async (t) => {
  const { apply, connect } = manage(t);
  for (const loser of [0, 1]) {
    const pids = join(t.testdir(), `${loser}.pids`);
    const entry = stdio(
      `s${loser}`,
      {},
      { command: 'sh', args: ['-c', `echo $$ >> ${pids}; exec ${process.execPath} ${SERVER}`] },
    );
    const writes = [await connect(entry), await connect(entry)];
    apply(entry);
    writes[loser]?.discard();
    const started = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    t.equal(started.length, 2);
    await Promise.race(started.map(gone));
    t.equal(started.filter(isAlive).length, 1);
  }
});

t.test('isolates a hanging server from others', async (t) => {
  const { apply, until, call, manager } = manage(t);
  apply(stdio('hanging', { BEHAVIOUR: 'hanging' }), stdio('well'));
  await until('well', ({ connected }) => connected);
  t.match(await call('well', 'echo', { message: 'hi' }), { data: 'hi' });
  t.match(manager.status('hanging'), { connected: false, reconnecting: false, last_error: null, tools: [] });
  t.strictSame(await manager.inventory('hanging').then(({ prompts, resources }) => [prompts, resources]), [
    [],
    [],
  ]);
  manager.restart('hanging');
  t.match(manager.status('well'), { connected: true });
});

t.test('treats an entry that is no longer valid as an unreachable server', async (t) => {
  const { apply, until } = manage(t);
  apply(
    { id: 'old', transport: 'http', url: 'http://u:hush@ x' },
    { id: 'odd', transport: 'http', url: 'http://%zz@h' },
  );
  const status = await until('old', ({ last_error }) => last_error !== null);
  t.match(status, { connected: false, last_error: 'mcp protocol error: the url of the server is not legal' });
  t.match(await until('odd', ({ last_error }) => last_error !== null), { connected: false });
});

t.test('ends children when the service is killed', async (t) => {
  const dir = t.testdir();
  const entries = ['', 'stubborn'].map((BEHAVIOUR, index) =>
    stdio(`s${index}`, { BEHAVIOUR, PID_FILE: join(dir, String(index)) }),
  );
  const service = spawn(
    ...nodeCommand([
      bundled(new URL('child-service.ts', import.meta.url).pathname),
      ...entries.map((entry) => JSON.stringify(entry)),
    ]),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.teardown(() => service.kill('SIGKILL'));
  await once(service.stdout, 'data');
  const pids = entries.map((_, index) => Number(readFileSync(join(dir, String(index)), 'utf8')));
  t.ok(pids.every(isAlive));
  service.kill('SIGKILL');
  await Promise.all(pids.map(gone));
});
