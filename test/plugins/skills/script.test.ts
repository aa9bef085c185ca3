import { once } from 'node:events';
import { realpathSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runScript, type ScriptRun } from '../../../src/plugins/skills/script.ts';
import { failureOf } from './skills.ts';

const scriptFolder = (t: Test, scripts: Record<string, string>): ScriptRun['skill'] => ({
  id: 's',
  root: realpathSync(t.testdir({ 'SKILL.md': '', scripts })),
});

const run = (skill: ScriptRun['skill'], script: string, more: Partial<ScriptRun> = {}) =>
  runScript({ skill, script, args: [], signal: new AbortController().signal, timeoutMs: 60_000, ...more });

/** Reports that a process is alive: the connection lasts as long as the process. */
const LIFE = "require('node:net').connect(Number(process.argv[2]));";

t.test('returns the exit code and the output of a script', async (t) => {
  const skill = scriptFolder(t, {
    'a.js': "console.log(JSON.stringify(process.argv.slice(2))); console.error('é'); process.exitCode = 3;",
  });
  t.strictSame(await run(skill, 'scripts/a.js', { args: ['$HOME', '; ls', '', '*'] }), {
    ok: false,
    skill_id: 's',
    script: 'scripts/a.js',
    exit_code: 3,
    stdout: '["$HOME","; ls","","*"]\n',
    stderr: 'é\n',
    stdout_truncated: false,
    stderr_truncated: false,
  });
});

t.test('treats exit code 0 as ok, and a signal as 128 plus its number', async (t) => {
  const skill = scriptFolder(t, { 'ok.sh': 'true', 'killed.sh': 'kill -TERM $$; sleep 1' });
  t.match(await run(skill, 'scripts/ok.sh'), { ok: true, exit_code: 0 });
  t.match(await run(skill, 'scripts/killed.sh'), { ok: false, exit_code: 143 });
});

t.test('runs a script in the folder of its skill, without input and secrets of the service', async (t) => {
  process.env.TEST_API_KEY = 'secret';
  t.teardown(() => {
    delete process.env.TEST_API_KEY;
  });
  const skill = scriptFolder(t, {
    'where.mjs': `import { readFileSync } from 'node:fs';
      const input = readFileSync(0, 'utf8');
      console.log(JSON.stringify([process.cwd(), input, process.env.TEST_API_KEY ?? null, !!process.env.PATH]));`,
  });
  t.match(await run(skill, 'scripts/where.mjs'), {
    stdout: `${JSON.stringify([skill.root, '', null, true])}\n`,
  });
});

t.test('truncates output at 32 KiB between characters without stopping the script', async (t) => {
  const skill = scriptFolder(t, {
    'loud.js':
      "process.stdout.write('x' + 'é'.repeat(500_000)); process.stderr.write('y'.repeat(32 * 1024));",
  });
  t.match(await run(skill, 'scripts/loud.js'), {
    ok: true,
    stdout: `x${'é'.repeat(16 * 1024 - 1)}`,
    stdout_truncated: true,
    stderr: 'y'.repeat(32 * 1024),
    stderr_truncated: false,
  });
});

t.test('kills a script that exceeds its timeout', async (t) => {
  const skill = scriptFolder(t, { 'endless.js': 'setInterval(() => {}, 1000);' });
  t.same(await failureOf(() => run(skill, 'scripts/endless.js', { timeoutMs: 100 })), [
    'script_timeout',
    "script 'scripts/endless.js' did not end within 0.1 s",
  ]);
});

/** A server that scripts connect to, with the connections of the first `count` processes. */
const watcher = async (t: Test, count: number) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const lives = new Promise<Socket[]>((resolve) => {
    const sockets: Socket[] = [];
    server.on('connection', (socket) => {
      // A killed process may reset its connection.
      socket.on('error', () => {}).resume();
      if (sockets.push(socket) === count) resolve(sockets);
    });
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  return { port, lives };
};

const CHILD = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(
  LIFE.replace('process.argv[2]', 'process.argv[1]'),
)}, process.argv[2]], { stdio: 'inherit' })`;

t.test('kills the script of a cancelled run with all its descendants', async (t) => {
  const { port, lives } = await watcher(t, 2);
  const skill = scriptFolder(t, { 'parent.cjs': `${LIFE} ${CHILD};` });
  const cancel = new AbortController();
  const failure = failureOf(() => run(skill, 'scripts/parent.cjs', { args: [port], signal: cancel.signal }));
  const ends = (await lives).map((socket) => once(socket, 'close'));
  cancel.abort();
  t.same(await failure, [undefined, "script 'scripts/parent.cjs' was stopped with its run"]);
  await Promise.all(ends);
});

t.test('does not delay a cancel for a process that has left its group', async (t) => {
  const { port, lives } = await watcher(t, 1);
  const skill = scriptFolder(t, {
    'parent.cjs': `${CHILD.replace("'inherit'", "'inherit', detached: true")}; setInterval(() => {}, 1000);`,
  });
  const cancel = new AbortController();
  const failure = failureOf(() => run(skill, 'scripts/parent.cjs', { args: [port], signal: cancel.signal }));
  const [escaped] = await lives;
  cancel.abort();
  t.same(await failure, [undefined, "script 'scripts/parent.cjs' was stopped with its run"]);
  t.notOk(escaped?.destroyed, 'the process outside of the group keeps its stream open');
  // It ends with its connection.
  escaped?.destroy();
});

t.test('kills the processes that a script leaves running', async (t) => {
  const { port, lives } = await watcher(t, 1);
  const skill = scriptFolder(t, {
    'leaver.cjs': `${CHILD}.unref(); require('node:fs').watch(__dirname, () => process.exit(0)); console.log('on')`,
  });
  const ended = run(skill, 'scripts/leaver.cjs', { args: [port] });
  const [life] = await lives;
  const closed = life && once(life, 'close');
  writeFileSync(join(skill.root, 'scripts', 'end'), '');
  t.match(await ended, { ok: true, stdout: 'on\n' });
  await closed;
});

t.test('starts no script in a cancelled run', async (t) => {
  const skill = scriptFolder(t, { 'a.sh': 'touch started' });
  t.match(await failureOf(() => run(skill, 'scripts/a.sh', { signal: AbortSignal.abort() })), [
    undefined,
    /was stopped with its run/,
  ]);
});

const refused: [script: string, code: string][] = [
  ['scripts/a.exe', 'unsupported_operation'],
  ['scripts/plain', 'unsupported_operation'],
  ['a.sh', 'unsupported_path'],
  ['SKILL.md', 'unsupported_path'],
  ['scripts/../../x.sh', 'path_escapes_root'],
  ['scripts/nope.sh', 'io_error'],
];
for (const [script, code] of refused) {
  t.test(`rejects script ${script} with ${code}`, async (t) => {
    const skill = scriptFolder(t, { 'a.exe': '', plain: '' });
    t.equal((await failureOf(() => run(skill, script)))[0], code);
  });
}

t.test('reports a script that cannot be started as io_error', async (t) => {
  const skill = scriptFolder(t, { 'a.sh': 'true' });
  const [code, message] = await failureOf(() =>
    run(skill, 'scripts/a.sh', { args: ['x'.repeat(4_000_000)] }),
  );
  t.equal(code, 'io_error');
  t.match(message, "cannot start 'scripts/a.sh' with 'bash': E2BIG");
});
