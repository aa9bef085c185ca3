import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BENCHMARKS } from '../../bench/catalogue.ts';
import { createResult, type Outcome, readResult, writeResult } from '../../bench/result-file.ts';
import { createRow } from '../../bench/row.ts';
import { bundled, nodeCommand } from '../child.ts';
import { MAIN } from '../e2e/built.ts';
import { LONG } from '../long.ts';

/** The benchmarks as their command executes them. Their figures are not tested. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const PROGRAM = join(ROOT, 'bench/index.ts');

const bench = async (args: readonly string[]) => {
  const child = spawn(...nodeCommand([bundled(PROGRAM), ...args]), { cwd: ROOT });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, printed };
};

/** Together they start nearly every kind of server, client and store. The long form executes all. */
const SMOKE = LONG ? BENCHMARKS.map(({ name }) => name) : ['provider', 'streams', 'resume', 'soak'];

t.test('a short run prints tables, writes every figure and counts none of them', async (t) => {
  t.ok(MAIN, 'the build has a main program');
  const file = join(t.testdir(), 'made', 'result.json');
  const { code, printed } = await bench([...SMOKE, '--short', '--build', ROOT, '--json', file]);
  t.equal(code, 0, printed);
  for (const text of [
    'ratio (min to max)',
    'bare loop, corked: the limit of the socket',
    /a stream, all at once, node:http on Node \d+ /,
    /^soak: 3 of 3, .* heap after a collection: \d/m,
    /modules of providers after the first run: [1-9]/,
    `written to ${file}`,
  ])
    t.match(printed, text);
  const { benchmarks, settings, commit } = readResult(file);
  t.match({ settings, commit }, { settings: { short: true }, commit: /^\w+/ });
  t.strictSame(
    benchmarks.map(({ name }) => name),
    SMOKE,
  );
  const rows = benchmarks.flatMap(({ rows }) => rows);
  for (const { metric, samples, counted, baseline, ratio } of rows) {
    t.equal(samples.length, 1, metric);
    if (baseline) t.ok(baseline.samples.length === 1 && ratio, `${metric}: ${baseline.name}`);
    t.notOk(counted, 'figures of a short run are not counted');
  }
});

const resultWith = (dir: string, name: string, values: readonly number[]): string => {
  const rows = [createRow({ metric: 'a stream', unit: 'ms', rounds: values.map((value) => ({ value })) })];
  const outcome: Outcome = { name: 'streams', title: 'streams', rows, notes: [] };
  const machine = { cpu: 'x', cores: 2, memory_gib: 4, node: 'v20', kernel: 'Linux', pinned: true };
  const settings = { short: false, rounds: null, duration: null, open_runs: 1000 };
  const file = join(dir, `${name}.json`);
  writeResult(file, createResult('abc', machine, settings, [outcome]));
  return file;
};

t.test('a comparison with a loss fails and names the row', async (t) => {
  const dir = t.testdir();
  const [before, now] = [
    resultWith(dir, 'before', [1, 1.01, 1.02]),
    resultWith(dir, 'now', [1.2, 1.21, 1.22]),
  ];
  const lost = await bench(['--from', now, '--against', before]);
  t.equal(lost.code, 1);
  t.match(lost.printed, 'lost more than 10 %:\n  streams: a stream\n');
  const gained = await bench(['--from', before, '--against', now]);
  t.equal(gained.code, 0, gained.printed);
});

t.test('reports an error in one line', async (t) => {
  const file = join(t.testdir(), 'wrong.json');
  writeFileSync(file, '{');
  const { code, printed } = await bench(['--from', file]);
  t.equal(code, 1);
  t.match(printed, /^bench: .*wrong\.json cannot be read: /m);
  t.notMatch(printed, /^\s+at /m);
});
