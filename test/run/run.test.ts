import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import t, { type Test } from 'tap';
import fc from '../random.ts';
import { runAlone } from './alone.ts';
import { bundle } from './bundle.ts';
import { countFrom, testFiles } from './command-line.ts';
import { Places, ROOT, workerOf } from './places.ts';
import { LAST, plan } from './plan.ts';
import { type Ended, type RunOptions, runFiles } from './processes.ts';
import { reasonOf } from './report.ts';

/** What a run of tests makes of files that fail, or break the process that they share. */

const PASSES = "import t from 'tap';\nt.test('fine', async (t) => t.ok(1));\n";

/** Without using a processor meanwhile. */
const BLOCKS = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);\n';

const runAll = async (
  t: Test,
  content: Record<string, string>,
  options: Partial<RunOptions> = {},
): Promise<Ended[]> => {
  const folder = t.testdir(content);
  const files = Object.keys(content).map((name) => relative(ROOT, join(folder, name)));
  const places = new Places(join(folder, 'made'));
  await bundle(files, places);
  const ended: Ended[] = [];
  const all = { places, seed: 1, fileMs: 60_000, bail: false, ...options };
  await runFiles(files, all, (end) => ended.push({ ...end, file: end.file.replace(/^.*\//, '') }));
  return ended;
};

t.test('a second run in a checkout is refused, and none that comes after the first', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'run-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const end = await runAlone(folder);
  await t.rejects(runAlone(folder), { message: /another run of the tests is under way/ });
  end();
  // As a process leaves it that was killed.
  writeFileSync(join(folder, 'running'), '');
  const later = await runAlone(folder);
  await t.rejects(runAlone(folder), { message: /another run/ });
  later();
});

t.test('files of a worker end one after the other, each with a result of its own', async (t) => {
  const fails = "import t from 'tap';\nt.test('not so', async (t) => t.equal(1, 2));\n";
  const ended = await runAll(t, { 'a.test.ts': PASSES, 'b.test.ts': fails, 'c.test.ts': PASSES });
  t.match(ended, [
    { file: 'a.test.ts', ok: true, residue: [] },
    { file: 'b.test.ts', ok: false },
    { file: 'c.test.ts', ok: true },
  ]);
});

t.test('with --bail nothing runs after a failure', async (t) => {
  const fails = "import t from 'tap';\nt.fail('no');\n";
  const ended = await runAll(t, { 'a.test.ts': fails, 'b.test.ts': PASSES }, { bail: true });
  t.match(ended, [{ file: 'a.test.ts', ok: false }]);
  t.equal(ended.length, 1);
});

t.test('a file that ends its process is named, with what it printed; the others run', async (t) => {
  const dies = "console.log('last words');\nprocess.kill(process.pid, 'SIGKILL');\n";
  const exits = "import t from 'tap';\nt.test('leaves', async () => process.exit(3));\n";
  const ended = await runAll(t, { 'a.test.ts': dies, 'b.test.ts': exits, 'c.test.ts': PASSES });
  t.match(ended, [
    { file: 'a.test.ts', ok: false, broken: 'its process ended (SIGKILL)', printed: /last words/ },
    { file: 'b.test.ts', ok: false, broken: 'its process ended (exit code 3)' },
    { file: 'c.test.ts', ok: true },
  ]);
});

t.test('what is thrown where nobody catches it fails its file, and the others run', async (t) => {
  const thrown = `
    import t from 'tap';
    t.test('throws', async () => {
      setTimeout(() => { throw new Error('late'); });
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
  `;
  const rejected = `
    import t from 'tap';
    t.test('rejects', async () => {
      Promise.reject(new Error('unheard'));
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
  `;
  const ended = await runAll(t, { 'a.test.ts': thrown, 'b.test.ts': rejected, 'c.test.ts': PASSES });
  t.match(ended, [
    { file: 'a.test.ts', ok: false, residue: [] },
    { file: 'b.test.ts', ok: false, residue: [] },
    { file: 'c.test.ts', ok: true },
  ]);
  t.notOk(ended[0]?.broken, 'it goes on to its end');
});

t.test('a worker ends with the process that started it', async (t) => {
  const waits = "import t from 'tap';\nt.test('waits', () => new Promise((r) => setTimeout(r, 600_000)));\n";
  const folder = t.testdir({ 'a.test.ts': waits });
  const places = new Places(join(folder, 'made'));
  const file = relative(ROOT, join(folder, 'a.test.ts'));
  await bundle([file], places);
  const worker = spawn(process.execPath, [workerOf(places)], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  await once(worker, 'message');
  worker.send({ type: 'file', file });
  // tap says over the same channel that it has begun.
  await once(worker, 'message');
  worker.disconnect();
  const [code] = await once(worker, 'exit');
  t.equal(code, 1);
});

t.test('a process that does not come to its first file fails it', async (t) => {
  const folder = t.testdir({ 'a.test.ts': PASSES });
  const file = relative(ROOT, join(folder, 'a.test.ts'));
  const ended: Ended[] = [];
  // Nothing was bundled there.
  const options = { places: new Places(join(folder, 'made')), seed: 1, fileMs: 60_000, bail: false };
  await runFiles([file], options, (end) => ended.push(end));
  t.match(ended, [
    { file, ok: false, broken: 'its process ended (exit code 1)', printed: /ERR_MODULE_NOT_FOUND/ },
  ]);
});

t.test('a file that blocks its process is given up', async (t) => {
  // Alone: another one would have no longer, however long a process takes to start.
  const ended = await runAll(t, { 'a.test.ts': BLOCKS }, { fileMs: 5000 });
  t.match(ended, [{ file: 'a.test.ts', broken: 'did not end within 5 s', late: true }]);
});

t.test('what a file leaves in the process is told', async (t) => {
  const leaves = `
    import t from 'tap';
    import { createServer } from 'node:net';
    t.test('leaves', async () => {
      process.env.LEFT = 'here';
      Date.now = () => 0;
      createServer().listen(0, '127.0.0.1');
    });
  `;
  const [ended] = await runAll(t, { 'a.test.ts': leaves });
  t.match(ended?.residue, [
    /^environment LEFT: here, before not set$/,
    /^a clock/,
    /TCPServerWrap: 1, before 0/,
  ]);
});

t.test('what a file leaves behind fails it, and hides nothing that failed in it', async (t) => {
  const residue = ['a clock'];
  t.equal(reasonOf({ ok: true, residue }), 'leaves behind: a clock');
  t.equal(reasonOf({ ok: false, residue }), undefined);
  t.equal(reasonOf({ ok: true, residue: [] }), undefined);
  t.equal(
    reasonOf({ ok: false, residue: [], broken: 'its process ended (SIGKILL)' }),
    'its process ended (SIGKILL)',
  );
});

t.test('what a command is given is judged', async (t) => {
  t.equal(countFrom('jobs', '3', 1), 3);
  t.equal(countFrom('jobs', undefined, 2), 2);
  for (const wrong of ['', '0', '-1', '1.5', 'x']) {
    t.throws(() => countFrom('jobs', wrong, 1), {
      message: `--jobs: '${wrong}' is not allowed; allowed: a whole number from 1`,
    });
  }
  t.strictSame(testFiles(['test/run/run.']), ['test/run/run.test.ts']);
  t.throws(() => testFiles(['nowhere']), { message: "no test file has 'nowhere' in its path" });
});

t.test('processes take from one queue, and every file runs once', async (t) => {
  const names = Array.from({ length: 6 }, (_, i) => `${i}.test.ts`);
  const folder = t.testdir(Object.fromEntries(names.map((name) => [name, PASSES])));
  const files = names.map((name) => relative(ROOT, join(folder, name)));
  const places = new Places(join(folder, 'made'));
  await bundle(files, places);
  const ended: string[] = [];
  const queue = [...files];
  const options = { places, seed: 1, fileMs: 60_000, bail: false };
  const work = () => runFiles(queue, options, ({ file }) => ended.push(file));
  await Promise.all([work(), work()]);
  t.strictSame(ended.sort(), files);
});

t.test(
  'the dear files come first, the others in their order, and what looks back is left for the end',
  async (t) => {
    const files = [
      'test/a/1.test.ts',
      'test/a/2.test.ts',
      'test/crash/a.test.ts',
      LAST,
      'test/packed/a.test.ts',
    ];
    t.strictSame(plan(files), [
      'test/packed/a.test.ts',
      'test/crash/a.test.ts',
      'test/a/1.test.ts',
      'test/a/2.test.ts',
    ]);
  },
);

t.test('what a property says is kept whole, whatever ends of lines the counterexample has', async (t) => {
  const fails = () => fc.assert(fc.property(fc.constant('\u2028'), () => false));
  t.throws(fails, { message: /Counterexample: \["\\u2028"\]/ });
});
