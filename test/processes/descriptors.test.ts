import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startChild, stopChild } from '../../src/mcp/child.ts';
import { runScript } from '../../src/plugins/skills/script.ts';
import { inheritable } from '../../src/processes/descriptors.ts';
import { startProgram } from '../../src/processes/start.ts';
import { openStore } from '../../src/store/index.ts';
import { storeFor } from '../store/open.ts';

/** The descriptors that child programs inherit from this process while it has a store, sockets and a log. */

const onLinux = process.platform === 'linux' ? {} : { skip: 'there is no /proc' };

/** Undefined for a descriptor that was closed after the folder was listed. */
const targetOf = (link: string): string | undefined => {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
};

/** Descriptors beyond input, output and errors, without `/dev/null` and without the pipe that a shell creates. */
const foreignOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`)
    .filter((number) => Number(number) > 2)
    .flatMap((number) => targetOf(`/proc/${pid}/fd/${number}`) ?? [])
    .filter((target) => target !== '/dev/null');

const LISTS = `
import os
for number in os.listdir('/proc/self/fd'):
    try: target = os.readlink('/proc/self/fd/' + number)
    except OSError: continue
    if int(number) > 2 and target != '/dev/null' and not target.startswith('/proc/'): print(number, target)
`;

/** A program that waits for its input, and one that ends. `/bin/cat` opens nothing itself. */
const WAITS = { command: '/bin/cat', args: [], env: {} };

const openEverything = async (t: Test) => {
  const store = await storeFor(t);
  const server = createServer((_, response) => response.write('open')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await new Promise((resolve) => client.once('data', resolve));
  t.teardown(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return store;
};

const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(pid);
      } catch {
        return false;
      }
    })
    .map(Number);

t.test('a store opens descriptors that programs would inherit', onLinux, async (t) => {
  await openEverything(t);
  const targets = inheritable().map((number) => readlinkSync(`/proc/self/fd/${number}`));
  t.ok(
    targets.some((target) => target.endsWith('/data.mdb')),
    targets.join('\n'),
  );
});

t.test('an MCP server and the guard of its group inherit nothing', onLinux, async (t) => {
  await openEverything(t);
  const before = new Set(childrenOf(process.pid));
  const child = await startChild(WAITS);
  t.teardown(() => stopChild(child));
  const started = childrenOf(process.pid).filter((pid) => !before.has(pid));
  t.equal(started.length, 2, 'the descriptors of the server and of its guard are found');
  for (const pid of started) t.strictSame(foreignOf(pid), []);
});

t.test('a script of a skill inherits nothing', onLinux, async (t) => {
  await openEverything(t);
  const root = join(t.testdirName, 'skill');
  t.testdir({ skill: { 'SKILL.md': '', scripts: { 'list.py': LISTS } } });
  const result = await runScript({
    skill: { id: 's', root },
    script: 'scripts/list.py',
    args: [],
    signal: new AbortController().signal,
    timeoutMs: 60_000,
  });
  t.match(result, { ok: true, stdout: '' });
});

t.test('stores that are opened and closed between two starts are not inherited', onLinux, async (t) => {
  const dirs = Object.keys(Array.from({ length: 8 })).map((name) => join(t.testdirName, name));
  t.testdir();
  const targetsOfOne = async (): Promise<string[]> => {
    const child = await startChild(WAITS);
    const found = foreignOf(child.pid);
    await stopChild(child);
    return found;
  };
  const stores = [];
  for (const dir of dirs) {
    stores.push(await openStore({ dir, durability: 'process' }));
    t.strictSame(await targetsOfOne(), []);
  }
  for (const store of stores) {
    await store.close();
    t.strictSame(await targetsOfOne(), []);
  }
});

t.test('reports a program that cannot be started after stores were closed', onLinux, async (t) => {
  const dirs = Object.keys(Array.from({ length: 8 })).map((name) => join(t.testdirName, name));
  t.testdir();
  const stores = [];
  for (const dir of dirs) stores.push(await openStore({ dir, durability: 'process' }));
  // Their numbers are free again, and the pipe that reports a failed start gets one of them.
  for (const store of stores) await store.close();
  for (let starts = 0; starts < 20; starts += 1)
    await t.rejects(startChild({ command: join(t.testdirName, 'missing'), args: [], env: {} }), {
      code: 'ENOENT',
    });
});

t.test(
  'a program that is started during writes and a copy of the store inherits nothing',
  onLinux,
  async (t) => {
    const store = await openEverything(t);
    const copy = store.backup(join(t.testdirName, 'copy'));
    const children = await Promise.all(Array.from({ length: 10 }, () => startChild(WAITS)));
    t.teardown(() => Promise.all(children.map(stopChild)));
    for (const child of children) t.strictSame(foreignOf(child.pid), []);
    await copy;
  },
);

t.test('a program has the given variables and no others', async (t) => {
  const child = startProgram({
    file: process.execPath,
    args: ['-p', 'JSON.stringify(process.env)'],
    env: { OWN: 'value' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  for await (const chunk of child.stdout) output += chunk;
  const { OWN, ...others } = JSON.parse(output);
  t.equal(OWN, 'value');
  // macOS adds one itself, and the test runner two.
  const added = /^(__CF|_TAPJS|NODE_OPTIONS$)/;
  t.strictSame(
    Object.keys(others).filter((name) => !added.test(name)),
    [],
  );
});
