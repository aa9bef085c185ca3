import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { replaceTable } from '../test/docs/replace-table.ts';
import { type Build, buildIn, makeBuild, ROOT } from './build.ts';
import { BENCHMARKS } from './catalogue.ts';
import { compareResults, incomparable, losses } from './compare.ts';
import { BenchError } from './error.ts';
import { machineLine, thisMachine } from './machine.ts';
import { helpText, type Options, parseOptions } from './options.ts';
import {
  createResult,
  type Outcome,
  type Result,
  readResult,
  type Settings,
  writeResult,
} from './result-file.ts';
import { createOutcome, createTally, runRounds, type Tally } from './runner.ts';
import { formatComparison, formatOutcome, markdownTable } from './table.ts';

/** `npm run bench`: each figure with a baseline that was measured in the same round. See `--help`. */

const print = (text: string): void => {
  process.stdout.write(text);
};

const settingsOf = ({ short, rounds, duration, openRuns }: Options): Settings => ({
  short,
  rounds: rounds ?? null,
  duration: duration ?? null,
  open_runs: openRuns,
});

/** Another build is measured in alternation; an earlier result is only read. */
type Other = { build: Build } | { result: Result } | undefined;

const otherOf = async ({ against }: Options): Promise<Other> => {
  if (against === undefined) return undefined;
  if (!existsSync(against)) throw new BenchError(`--against: ${against} does not exist`);
  if (statSync(against).isDirectory()) return { build: await buildIn(against) };
  return { result: readResult(against) };
};

type Measurement = { now: Outcome[]; before: Outcome[] };

/** @param save receives the outcomes so far after each benchmark, so that a later failure loses nothing */
const measureAll = async (
  options: Options,
  build: Build,
  other: Other,
  save: (now: Outcome[]) => void,
): Promise<Measurement> => {
  const { names } = options;
  const chosen = BENCHMARKS.filter(({ name }) => names.length === 0 || names.includes(name));
  const earlier = other && 'result' in other ? other.result.benchmarks : [];
  const measurement: Measurement = { now: [], before: [] };
  for (const benchmark of chosen) {
    const mine = createTally(build);
    const theirs = other && 'build' in other ? createTally(other.build) : undefined;
    const tallies: Tally[] = theirs ? [theirs, mine] : [mine];
    const outcomes = (): [Outcome, Outcome[]] => [
      createOutcome(benchmark, mine, options),
      theirs
        ? [createOutcome(benchmark, theirs, options)]
        : earlier.filter(({ name }) => name === benchmark.name),
    ];
    await runRounds(benchmark, options, tallies);
    let [now, before] = outcomes();
    if (losses(compareResults(before, [now])).length > 0) {
      print(`${benchmark.name}: something seems to be lost, measured once more\n`);
      await runRounds(benchmark, options, tallies);
      [now, before] = outcomes();
    }
    print(`${formatOutcome(now)}\n`);
    measurement.now.push(now);
    measurement.before.push(...before);
    save(measurement.now);
  }
  return measurement;
};

/** Text of the page of benchmarks between the marks of a benchmark. */
const markdownText = (
  { at, commit, machine, settings: { rounds }, benchmarks }: Result,
  { names }: Options,
): string => {
  const tooLong = BENCHMARKS.filter(({ long }) => long).map(({ name }) => name);
  const shown = benchmarks.filter(({ name }) =>
    names.length === 0 ? !tooLong.includes(name) : names.includes(name),
  );
  const often = rounds === null ? '' : `, rounds: ${rounds}`;
  return `Measured on ${machineLine(machine)}${often}; commit ${commit}, ${at.slice(0, 10)}.\n\n${markdownTable(shown)}`;
};

const showMarkdown = (result: Result, options: Options): void => {
  if (options.markdown) print(`\n${markdownText(result, options)}`);
  const [name] = options.names;
  if (!options.updateDocs || name === undefined) return;
  replaceTable(markOf(name), markdownText(result, options).trimEnd(), PAGE);
  print(`written to ${PAGE}, between the marks ${markOf(name)}\n`);
};

const PAGE = 'src/docs/benchmarks.md';

const markOf = (name: string): string => `benchmark-${name}`;

/** @returns true if no row has lost */
const compared = (before: readonly Outcome[], now: readonly Outcome[], of: string): boolean => {
  const comparisons = compareResults(before, now);
  if (comparisons.length === 0)
    throw new BenchError(`nothing to compare: ${of} has none of these benchmarks`);
  const lost = losses(comparisons);
  print(`against ${of}:\n\n${formatComparison(comparisons)}\n`);
  print(lost.length === 0 ? 'no counted figure lost more than 10 %\n' : 'lost more than 10 %:\n');
  for (const { benchmark, metric } of lost) print(`  ${benchmark}: ${metric}\n`);
  return lost.length === 0;
};

const assertComparable = (before: Result, now: Pick<Result, 'machine' | 'settings'>): void => {
  const reason = incomparable(before, now);
  if (reason !== undefined) throw new BenchError(`--against: not measured in the same way: ${reason}`);
};

const fromFile = async (options: Options, file: string): Promise<boolean> => {
  const other = await otherOf(options);
  const result = readResult(file);
  const { names } = options;
  const chosen = result.benchmarks.filter(({ name }) => names.length === 0 || names.includes(name));
  if (options.markdown || options.updateDocs) showMarkdown(result, options);
  else for (const outcome of chosen) print(`${formatOutcome(outcome)}\n`);
  if (!other) return true;
  if (!('result' in other)) throw new BenchError('--against: with --from it is a result, not a build');
  assertComparable(other.result, result);
  return compared(other.result.benchmarks, chosen, other.result.commit);
};

const measured = async (options: Options): Promise<boolean> => {
  const other = await otherOf(options);
  const [machine, settings] = [thisMachine(), settingsOf(options)];
  if (other && 'result' in other) assertComparable(other.result, { machine, settings });
  const build = options.build === undefined ? await makeBuild() : await buildIn(options.build);
  print(`${machineLine(machine)}\ncommit ${build.commit}\n\n`);
  const begun = new Date().toISOString().replace(/[:.]/g, '-');
  const file = options.json ?? join(ROOT, '.bench', `${begun}-${build.commit}.json`);
  const resultWith = (outcomes: Outcome[]): Result => createResult(build.commit, machine, settings, outcomes);
  const { now, before } = await measureAll(options, build, other, (outcomes) =>
    writeResult(file, resultWith(outcomes)),
  );
  print(`written to ${file}\n`);
  showMarkdown(resultWith(now), options);
  if (!other) return true;
  return compared(
    before,
    now,
    'build' in other ? `${other.build.root}, ${other.build.commit}` : other.result.commit,
  );
};

const main = async (): Promise<boolean> => {
  const options = parseOptions(
    process.argv.slice(2),
    BENCHMARKS.map(({ name }) => name),
  );
  if (options.help) {
    print(helpText(BENCHMARKS));
    return true;
  }
  return options.from === undefined ? measured(options) : fromFile(options, options.from);
};

main().then(
  (good) => process.exit(good ? 0 : 1),
  (error: unknown) => {
    const text = error instanceof Error && !(error instanceof BenchError) ? error.stack : undefined;
    process.stderr.write(`bench: ${text ?? (error instanceof Error ? error.message : error)}\n`);
    process.exit(1);
  },
);
