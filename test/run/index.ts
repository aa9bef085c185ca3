import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { SEED } from '../random.ts';
import { runAlone } from './alone.ts';
import { bundle } from './bundle.ts';
import { countFrom, startedByTests, testFiles } from './command-line.ts';
import { TAP_PLACES } from './places.ts';
import { LAST, plan } from './plan.ts';
import { runWithRepeats } from './repeats.ts';
import { Report } from './report.ts';

/**
 * Runs the tests: compiles all of them once and runs them in a few processes, each of which takes the next file when it
 * has finished one. A file that fails runs once more, alone. The output of each file is stored as TAP for `npx tap replay FILE`; `npx tap run FILE` runs a file
 * on its own.
 */

const USAGE = `Usage: npm run test:run -- [--jobs N] [--slowest N] [PART ...]

  PART          only files whose path has this in it, such as store/ or test/ids.test.ts
  --jobs N      concurrent processes (default: three more than there are cores)
  --slowest N   print the N files that took most CPU time

  TROUPE_TEST_SEED=N   repeats what was random in an earlier run
  TROUPE_TEST_LONG=1   the long forms of the tests that have one
  TROUPE_TEST_CLUSTER=1   services of tests are members of a cluster, and clients use the address of a standby
  TROUPE_TEST_CLUSTER=member   the same without a standby
`;

/** Stops files that use the CPU forever; the long variants of tests take hours. */
const FILE_MS = process.env.TROUPE_TEST_LONG ? 2 ** 31 - 1 : 1_800_000;

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' }, jobs: { type: 'string' }, slowest: { type: 'string' } },
  });
  if (values.help) return console.log(USAGE);
  const files = testFiles(positionals);
  const jobs = countFrom('jobs', values.jobs, availableParallelism() + 3);
  const slowest = countFrom('slowest', values.slowest, 0);
  const end = await runAlone(TAP_PLACES.base);
  const report = new Report(SEED);
  await bundle([...files, ...startedByTests()], TAP_PLACES);
  rmSync(TAP_PLACES.answers, { recursive: true, force: true });
  const queue = plan(files);
  const options = { places: TAP_PLACES, seed: SEED, fileMs: FILE_MS, bail: false };
  const first = Array.from({ length: Math.min(jobs, queue.length) }, () => queue);
  await runWithRepeats(first, options, report);
  if (files.includes(LAST)) await runWithRepeats([[LAST]], options, report);
  await report.end(slowest);
  end();
};

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
