import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { startHttpPeer } from '../mcp-peers/http.ts';
import { freePort, isAlive, packaged, startEverything } from '../mcp-peers/packaged.ts';
import { startMcpPlane } from '../mcp-peers/plane.ts';
import { startStdioPeer } from '../mcp-peers/stdio.ts';
import { eventually } from '../service/troupe.ts';

/** MCP servers from the registry, used by an agent of a real service, in good days and bad ones. */

t.test('an agent uses servers of the registry over stdio and over HTTP', async (t) => {
  const folder = t.testdir({ files: {} });
  const port = await freePort();
  await startEverything(t, port);
  const { add, use, inventory, status, tools } = await startMcpPlane(t, {
    settings: { storage_dir: join(folder, 'store') },
  });
  const files = join(folder, 'files');
  const graph = join(folder, 'graph.json');
  await Promise.all([
    add(packaged(t, 'everything').entry),
    add({ id: 'far.away', transport: 'http', url: `http://127.0.0.1:${port}/mcp` }),
    add(packaged(t, 'filesystem', { args: [files] }).entry),
    add(packaged(t, 'memory', { entry: { env: { MEMORY_FILE_PATH: graph } } }).entry),
  ]);
  for (const id of ['mcp__everything__echo', 'mcp__far_away__echo', 'mcp__memory__read_graph']) {
    t.ok((await tools()).includes(id), id);
  }

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

t.test(
  'a server that is killed is back without anybody, and one that is restarted is another one',
  async (t) => {
    const { add, use, until, post, status } = await startMcpPlane(t);
    const memory = packaged(t, 'memory', { entry: { restart_policy: { enabled: true, delay_ms: 1 } } });
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
  },
);

t.test('a server that hangs fails its calls, harms no other, and is ended by a restart', async (t) => {
  const { add, use, until, post } = await startMcpPlane(t);
  const hung = packaged(t, 'memory', { entry: { id: 'hung', timeout_secs: 1 } });
  const other = await startStdioPeer(t);
  await Promise.all([add(hung.entry), add(other.entry('other'))]);
  const [pid = 0] = await hung.pids(1);
  process.kill(pid, 'SIGSTOP');
  t.match(await use(['c1', 'mcp__hung__read_graph'], ['c2', 'mcp__other__repeat', { text: 'x' }]), [
    { id: 'c1', outcome: 'failed', result: { message: /time/i } },
    { id: 'c2', outcome: 'succeeded', result: { data: 'told: {"text":"x"}' } },
  ]);
  t.match(await until('hung', ({ consecutive_failures }) => consecutive_failures === 1), { connected: true });

  process.kill(pid, 'SIGCONT');
  t.match(await use(['c1', 'mcp__hung__read_graph']), [{ outcome: 'succeeded' }]);
  t.match(await until('hung', ({ consecutive_failures }) => consecutive_failures === 0), { connected: true });

  process.kill(pid, 'SIGSTOP');
  t.equal((await post('/v1/mcp-servers/hung/restart')).status, 202);
  await hung.pids(2);
  t.match(await use(['c1', 'mcp__hung__read_graph']), [{ outcome: 'succeeded' }]);
  await eventually(
    async () => isAlive(pid),
    (alive) => !alive,
  );
});

t.test('a server that floods its standard error and speaks garbage is used all the same', async (t) => {
  const { add, use } = await startMcpPlane(t);
  const garbage = `printf 'hello\\n{\\n[]\\n\\n{"jsonrpc":"2.0"}\\n\\377\\376\\n';`;
  const noisy = packaged(t, 'memory', { first: `yes flood | head -c 20000000 >&2; ${garbage}` });
  await add(noisy.entry);
  t.match(await use(['c1', 'mcp__memory__read_graph']), [{ outcome: 'succeeded' }]);
});

t.test('a server that is down at start is picked up when it comes', async (t) => {
  const port = await freePort();
  const folder = t.testdir({});
  const program = join(folder, 'program');
  const peer = await startStdioPeer(t);
  const http = await startHttpPeer(t);
  const { add, troupe, status, until, use } = await startMcpPlane(t);
  const restart_policy = { enabled: true, delay_ms: 10, max_delay_ms: 50 };
  await add(http.entry('far', { restart_policy }));
  await add(peer.entry('near', { restart_policy, env: { PROGRAM: program } }));
  await writeFile(program, String(port));
  await http.stop();
  await troupe.restart();
  t.match(await status('far'), { connected: false, tools: [] });
  t.match(await until('far', ({ last_error }) => last_error !== null), { connected: false });
  t.match(await use(['c1', 'mcp__near__repeat', { text: 'x' }]), [{ outcome: 'succeeded' }]);
  await http.start();
  await until('far', ({ connected }) => connected);
  t.match(await use(['c1', 'mcp__far__repeat', { text: 'x' }]), [{ outcome: 'succeeded' }]);
});
