import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { type Exchange, startPeer } from '../mcp/http-peer.ts';
import { EAGER, http, SERVER, stdio } from '../mcp/manage.ts';
import { freePort } from '../ports.ts';
import { eventually } from '../service/troupe.ts';
import { isAlive, packaged, startEverything } from './mcp-packaged.ts';
import { startMcpPlane } from './mcp-plane.ts';

/** Published MCP servers, used by an agent of a real service, with and without failures. */

t.test('uses published servers over stdio and over HTTP', async (t) => {
  const port = await freePort();
  await startEverything(t, port);
  const { add, use, inventory, status, offers } = await startMcpPlane(t);
  const files = join(t.testdirName, 'files');
  const graph = join(files, 'graph.json');
  await mkdir(files);
  await Promise.all([
    add(packaged(t, 'everything').entry),
    add({ id: 'far.away', transport: 'http', url: `http://127.0.0.1:${port}/mcp` }),
    add(packaged(t, 'filesystem', { args: [files] }).entry),
    add(packaged(t, 'memory', { entry: { env: { MEMORY_FILE_PATH: graph } } }).entry),
  ]);
  for (const id of ['mcp__everything__echo', 'mcp__far_away__echo', 'mcp__memory__read_graph'])
    await offers(id);

  t.match(
    await use(
      ['c1', 'mcp__everything__echo', { message: 'near' }],
      ['c2', 'mcp__far_away__echo', { message: 'far' }],
      ['c3', 'mcp__everything__get-sum', { a: 2, b: 3 }],
      ['c4', 'mcp__everything__get_sum', { a: 2, b: 3 }],
      ['c5', 'mcp__far_away__get_tiny_image'],
      ['c6', 'mcp__far_away__get_structured_content', { location: 'New York' }],
      ['c7', 'mcp__far_away__trigger_long_running_operation', { duration: 0.05, steps: 3 }],
      ['c8', 'mcp__filesystem__write_file', { path: join(files, 'a.txt'), content: 'written' }],
      ['c9', 'mcp__filesystem__read_text_file', { path: '/etc/passwd' }],
      [
        'c10',
        'mcp__memory__create_entities',
        { entities: [{ name: 'Ada', entityType: 'person', observations: [] }] },
      ],
    ),
    [
      { id: 'c1', outcome: 'succeeded', result: { data: /Echo: near/ } },
      { id: 'c2', outcome: 'succeeded', result: { data: /Echo: far/ } },
      { id: 'c3', outcome: 'failed', result: { message: /not found/ } },
      { id: 'c4', outcome: 'succeeded', result: { data: /5/ } },
      { id: 'c5', outcome: 'succeeded', result: { data: { content: [{}, { type: 'image' }] } } },
      { id: 'c6', outcome: 'succeeded', result: { data: { structuredContent: { temperature: Number } } } },
      { id: 'c7', outcome: 'succeeded', result: { data: /completed/ } },
      { id: 'c8', outcome: 'succeeded' },
      { id: 'c9', outcome: 'failed', result: { message: /denied/i } },
      { id: 'c10', outcome: 'succeeded' },
    ],
  );
  t.equal(await readFile(join(files, 'a.txt'), 'utf8'), 'written');
  t.match(await readFile(graph, 'utf8'), /Ada/);

  t.match(await status('far.away'), { connected: true, last_error: null, session_generation: 1 });
  t.match(await status('everything'), { connected: true, last_error: null, session_generation: 0 });
  for (const id of ['everything', 'far.away']) {
    const { prompts, resources } = await inventory(id);
    const names = prompts.map(({ prompt }) => prompt.name);
    t.equal(names.length, 4, id);
    t.strictSame(names, [...names].sort());
    t.ok(prompts.every(({ prompt }) => Array.isArray(prompt.arguments)));
    t.equal(resources.length, 7, id);
  }
  t.match(await inventory('filesystem'), { connected: true, prompts: [], resources: [] });
});

t.test('reconnects a killed server automatically, and replaces a restarted one', async (t) => {
  const { add, use, until, post, status } = await startMcpPlane(t);
  const memory = packaged(t, 'memory', { entry: EAGER });
  await add(memory.entry);
  const [first = 0] = await memory.pids(1);
  process.kill(first, 'SIGKILL');
  const [, second = 0] = await memory.pids(2);
  t.match(await until('memory', ({ connected }) => connected), { transport_reconnect_count: 1 });
  t.match(await use(['c1', 'mcp__memory__read_graph']), [{ outcome: 'succeeded' }]);

  t.equal((await post('/v1/mcp-servers/memory/restart')).status, 202);
  const [, , third = 0] = await memory.pids(3);
  await until(
    'memory',
    ({ connected, transport_reconnect_count }) => connected && transport_reconnect_count === 2,
  );
  await eventually(
    async () => isAlive(second),
    (alive) => !alive,
  );
  t.ok(isAlive(third));
  t.match(await use(['c1', 'mcp__memory__read_graph']), [{ outcome: 'succeeded' }]);
  t.match(await status('memory'), { permanently_failed: false, consecutive_failures: 0 });
});

t.test('isolates a hanging server from others, and ends it with its calls on restart', async (t) => {
  const { add, troupe, use, until, post } = await startMcpPlane(t);
  const hung = packaged(t, 'memory', { entry: { id: 'hung' } });
  await Promise.all([add(hung.entry), add(stdio('other'))]);
  const [pid = 0] = await hung.pids(1);
  process.kill(pid, 'SIGSTOP');
  const waiting = use(['c1', 'mcp__hung__read_graph']);
  await eventually(
    async () => troupe.models.steps.length,
    (left) => left === 0,
  );
  t.match(await use(['c2', 'mcp__other__echo', { message: 'x' }]), [
    { outcome: 'succeeded', result: { data: 'x' } },
  ]);

  t.equal((await post('/v1/mcp-servers/hung/restart')).status, 202);
  t.match(await waiting, [{ outcome: 'failed', result: { message: /connection closed/ } }]);
  await until('hung', ({ transport_reconnect_count }) => transport_reconnect_count === 1);
  t.match(await use(['c3', 'mcp__hung__read_graph']), [{ outcome: 'succeeded' }]);
  await eventually(
    async () => isAlive(pid),
    (alive) => !alive,
  );
});

t.test('uses a server that floods its standard error and prints garbage', async (t) => {
  const { add, use } = await startMcpPlane(t);
  const garbage = `printf 'hello\\n{\\n[]\\n\\n{"jsonrpc":"2.0"}\\n\\377\\376\\n';`;
  const noisy = packaged(t, 'memory', { first: `yes flood | head -c 20000000 >&2; ${garbage}` });
  await add(noisy.entry);
  t.match(await use(['c1', 'mcp__memory__read_graph']), [{ outcome: 'succeeded' }]);
});

t.test('starts and works while no configured server has responded', async (t) => {
  const far = await startPeer(t);
  const { add, del, troupe, get, post, status, until, use, offers } = await startMcpPlane(t);
  const isBad = join(t.testdirName, 'bad');
  const turning = (id: string, bad: string) => {
    const args = ['-c', `[ -e "$0" ] && ${bad}; exec "$@"`, isBad, process.execPath, SERVER];
    return { id, transport: 'stdio', command: 'sh', args, ...EAGER };
  };
  const ids = ['hanging', 'dead', 'far'];
  await add(turning('hanging', 'exec cat >/dev/null'));
  await add(turning('dead', 'exit 1'));
  await add(http('far', far.url));
  const waiting: Exchange[] = [];
  far.on.initialize = (exchange) => void waiting.push(exchange);
  await writeFile(isBad, '');

  await troupe.restart();
  // Healthy as soon as recovery has read the work of the earlier process, whatever the servers do.
  await eventually(
    () => troupe.call('GET', '/health'),
    ({ status }) => status === 200,
  );
  for (const id of ids) t.match(await status(id), { connected: false, tools: [] });
  t.match(await use(['c1', 'mcp__far__echo']), [{ outcome: 'failed' }]);
  t.match(await post('/v1/config/agents', { id: 'more', model_id: 'echo' }), { status: 201 });
  t.match(await get('/v1/capabilities'), { status: 200 });
  await until('dead', ({ last_error }) => last_error !== null);
  t.match(await del('/v1/config/mcp-servers/hanging'), { status: 204 });
  for (const id of ['dead', 'far']) t.match(await status(id), { connected: false });

  await rm(isBad);
  delete far.on.initialize;
  for (const { status } of waiting) status(503);
  await offers('mcp__dead__echo');
  await offers('mcp__far__echo');
  t.match(await use(['c2', 'mcp__far__echo', { message: 'x' }]), [{ outcome: 'succeeded' }]);
});
