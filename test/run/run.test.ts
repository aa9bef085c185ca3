import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
import { runWithRepeats } from './repeats.ts';
import { reasonOf } from './report.ts';

/** Test runs with files that fail or break the process that they share. */

const PASSES = "import t from 'tap';\nt.test('fine', async (t) => t.ok(1));\n";

/** Blocks without using the CPU. */
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

t.test('rejects a concurrent second run in a checkout, and allows a later one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'run-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const end = await runAlone(folder);
  await t.rejects(runAlone(folder), { message: /another run of the tests is under way/ });
  end();
  // A killed process leaves this file.
  writeFileSync(join(folder, 'running'), '');
  const later = await runAlone(folder);
  await t.rejects(runAlone(folder), { message: /another run/ });
  later();
});

t.test('runs the files of a worker one at a time, each with a separate result', async (t) => {
  const fails = "import t from 'tap';\nt.test('not so', async (t) => t.equal(1, 2));\n";
  const ended = await runAll(t, { 'a.test.ts': PASSES, 'b.test.ts': fails, 'c.test.ts': PASSES });
  t.match(ended, [
    { file: 'a.test.ts', ok: true, residue: [] },
    { file: 'b.test.ts', ok: false },
    { file: 'c.test.ts', ok: true },
  ]);
});

const runTwice = async (
  t: Test,
  content: Record<string, string>,
): Promise<{ ended: Ended[]; repeated: string[] }> => {
  const folder = t.testdir(content);
  const files = Object.keys(content).map((name) => relative(ROOT, join(folder, name)));
  const places = new Places(join(folder, 'made'));
  await bundle(files, places);
  const ended: Ended[] = [];
  const repeated: string[] = [];
  const report = {
    ended: (end: Ended) => void ended.push(end),
    repeating: async (ends: Ended[]) => void repeated.push(...ends.map(({ file }) => file)),
  };
  await runWithRepeats([files], { places, seed: 1, fileMs: 60_000, bail: false }, report);
  return { ended, repeated };
};

t.test('runs a failed file once more, and counts its second result', async (t) => {
  const mark = join(t.testdir(), 'mark');
  const failsOnce = `
import { existsSync, writeFileSync } from 'node:fs';
import t from 'tap';
const before = existsSync(${JSON.stringify(mark)});
writeFileSync(${JSON.stringify(mark)}, '');
t.test('once', async (t) => t.ok(before));
`;
  const fails = "import t from 'tap';\nt.test('not so', async (t) => t.equal(1, 2));\n";
  const { ended, repeated } = await runTwice(t, {
    'a.test.ts': failsOnce,
    'b.test.ts': fails,
    'c.test.ts': PASSES,
  });
  t.match(repeated, [/a\.test\.ts$/, /b\.test\.ts$/]);
  t.match(ended, [
    { file: /c\.test\.ts$/, ok: true },
    { file: /a\.test\.ts$/, ok: true },
    { file: /b\.test\.ts$/, ok: false },
  ]);
});

t.test('repeats nothing if more files fail than a busy machine explains', async (t) => {
  const fails = "import t from 'tap';\nt.fail('no');\n";
  const names = Array.from({ length: 6 }, (_, index) => `${index}.test.ts`);
  const { ended, repeated } = await runTwice(t, Object.fromEntries(names.map((name) => [name, fails])));
  t.strictSame(repeated, []);
  t.strictSame(
    ended.map(({ ok }) => ok),
    names.map(() => false),
  );
});

t.test('runs nothing after a failure with --bail', async (t) => {
  const fails = "import t from 'tap';\nt.fail('no');\n";
  const ended = await runAll(t, { 'a.test.ts': fails, 'b.test.ts': PASSES }, { bail: true });
  t.match(ended, [{ file: 'a.test.ts', ok: false }]);
  t.equal(ended.length, 1);
});

t.test('reports a file that ends its process with its output, and runs the others', async (t) => {
  const dies = "console.log('last words');\nprocess.kill(process.pid, 'SIGKILL');\n";
  const exits = "import t from 'tap';\nt.test('leaves', async () => process.exit(3));\n";
  const ended = await runAll(t, { 'a.test.ts': dies, 'b.test.ts': exits, 'c.test.ts': PASSES });
  t.match(ended, [
    { file: 'a.test.ts', ok: false, broken: 'its process ended (SIGKILL)', printed: /last words/ },
    { file: 'b.test.ts', ok: false, broken: 'its process ended (exit code 3)' },
    { file: 'c.test.ts', ok: true },
  ]);
});

t.test('fails a file with an uncaught error, and runs the others', async (t) => {
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
  t.notOk(ended[0]?.broken, 'the run continues to its end');
});

t.test('ends a worker with the process that started it', async (t) => {
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
  // tap reports its start over the same channel.
  await once(worker, 'message');
  worker.disconnect();
  const [code] = await once(worker, 'exit');
  t.equal(code, 1);
});

t.test('fails the first file of a process that cannot start', async (t) => {
  const folder = t.testdir({ 'a.test.ts': PASSES });
  const file = relative(ROOT, join(folder, 'a.test.ts'));
  const ended: Ended[] = [];
  // The folder contains no bundle.
  const options = { places: new Places(join(folder, 'made')), seed: 1, fileMs: 60_000, bail: false };
  await runFiles([file], options, (end) => ended.push(end));
  t.match(ended, [
    { file, ok: false, broken: 'its process ended (exit code 1)', printed: /ERR_MODULE_NOT_FOUND/ },
  ]);
});

t.test('fails a test that makes no progress, and runs the other files in a new process', async (t) => {
  const stalls = `
    import t from 'tap';
    import { createServer } from 'node:net';
    t.test('waits forever', async (t) => {
      createServer().listen(0, '127.0.0.1');
      t.ok(1);
      await new Promise(() => setInterval(() => {}, 1000));
    });
  `;
  const computes = `
    import t from 'tap';
    import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    t.test('waits for a program', async (t) => {
      const code = 'const end = performance.now() + 3000; while (performance.now() < end);';
      t.strictSame(await once(spawn(process.execPath, ['-e', code]), 'exit'), [0, null]);
    });
  `;
  const files = { 'a.test.ts': stalls, 'b.test.ts': computes, 'c.test.ts': PASSES };
  const ended = await runAll(t, files, { stallMs: 2000 });
  t.match(ended, [
    { file: 'a.test.ts', ok: false, broken: undefined, residue: [] },
    { file: 'b.test.ts', ok: true },
    { file: 'c.test.ts', ok: true },
  ]);
  const places = new Places(join(t.testdirName, 'made'));
  const tap = readFileSync(places.resultOf(relative(ROOT, join(t.testdirName, 'a.test.ts'))), 'utf8');
  t.match(tap, /not ok 2 - stalled: .*waits forever/s);
});

t.test('stops a file that blocks its process', async (t) => {
  // The file runs alone, because a second one would have the same timeout, which includes the start of a process.
  const ended = await runAll(t, { 'a.test.ts': BLOCKS }, { fileMs: 5000 });
  t.match(ended, [{ file: 'a.test.ts', broken: 'did not end within 5 s', late: true }]);
});

t.test('reports changes that a file leaves in the process', async (t) => {
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

t.test('fails a file that leaves changes behind, unless tests of it failed', async (t) => {
  const residue = ['a clock'];
  t.equal(reasonOf({ ok: true, residue }), 'leaves behind: a clock');
  t.equal(reasonOf({ ok: false, residue }), undefined);
  t.equal(reasonOf({ ok: true, residue: [] }), undefined);
  t.equal(
    reasonOf({ ok: false, residue: [], broken: 'its process ended (SIGKILL)' }),
    'its process ended (SIGKILL)',
  );
});

t.test('validates command-line values', async (t) => {
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

t.test('shares one queue among processes, and runs every file once', async (t) => {
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
  'starts long files first, keeps the order of the other files, and excludes the last test from the plan',
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

t.test('keeps the whole message of a property with line separators in the counterexample', async (t) => {
  const fails = () => fc.assert(fc.property(fc.constant('\u2028'), () => false));
  t.throws(fails, { message: /Counterexample: \["\\u2028"\]/ });
});
