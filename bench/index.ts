import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bombs } from './bombs.ts';
import { config } from './config.ts';
import { fanOut } from './fan-out.ts';
import { growth } from './growth.ts';
import { idle } from './idle.ts';
import { longRun } from './long-run.ts';
import { machineLine, thisMachine } from './machine.ts';
import { paced } from './paced.ts';
import { protocols } from './protocols.ts';
import { appendOutcomes, type Benchmark, type Outcome } from './result.ts';
import { startup } from './startup.ts';
import { store } from './store.ts';
import { streams } from './streams.ts';
import { formatOutcome } from './table.ts';
import { ttft } from './ttft.ts';

/**
 * `npm run bench [-- names… --json FILE --short --server MAIN]`: each figure beside a baseline that was measured
 * in the same run. `--server` measures another build than the one of this tree.
 */

const BENCHMARKS: readonly Benchmark[] = [
  store,
  streams,
  ttft,
  startup,
  idle,
  paced,
  growth,
  longRun,
  fanOut,
  config,
  protocols,
  bombs,
];

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const fail = (message: string): never => {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(1);
};

const build = (): string => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build:js'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return status === 0 ? join(ROOT, 'dist/src/main.js') : fail(`the build failed:\n${stdout}${stderr}`);
};

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  folders.push(made);
  return made;
};

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'string', default: join(ROOT, '.bench.json') },
      short: { type: 'boolean', default: false },
      server: { type: 'string' },
    },
  });
  const chosen = positionals.length === 0 ? BENCHMARKS : positionals.map(benchmarkNamed);
  const server = values.server ?? build();
  const machine = thisMachine();
  process.stdout.write(`${machineLine(machine)}\n\n`);
  const outcomes: Outcome[] = [];
  for (const { name, title, run } of chosen) {
    const notes: string[] = [];
    const rows = await run({ short: values.short, server, folder, note: (text) => notes.push(text) });
    const outcome = { name, rows, notes };
    outcomes.push(outcome);
    process.stdout.write(`${formatOutcome(title, outcome)}\n`);
  }
  appendOutcomes(values.json, machine, values.short, outcomes);
};

const benchmarkNamed = (name: string): Benchmark =>
  BENCHMARKS.find((benchmark) => benchmark.name === name) ??
  fail(
    `there is no benchmark '${name}'; allowed: ${BENCHMARKS.map((benchmark) => benchmark.name).join(', ')}`,
  );

main().then(
  () => process.exit(0),
  (error: unknown) => fail(error instanceof Error ? (error.stack ?? error.message) : String(error)),
);
