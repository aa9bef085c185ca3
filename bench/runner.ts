import type { Benchmark } from './benchmark.ts';
import type { Build } from './build.ts';
import { newFolder } from './folders.ts';
import type { Options } from './options.ts';
import type { Outcome } from './result-file.ts';
import { joined, type Measured, type Row, rowOf } from './row.ts';

/** Runs benchmarks, a round at a time: of one build, or of two in turns. */

const ROUNDS = 3;
const SHORT_ROUND_MS = 50;

/** What has been measured of one build, with the samples of all rounds. */
export type Tally = { build: Build; notes: string[]; measured: Measured[] };

export const tallyOf = (build: Build): Tally => ({ build, notes: [], measured: [] });

/** Each build has its turn in every round, so that what changes on the machine meets all of them. */
export const runRounds = async (
  benchmark: Benchmark,
  options: Pick<Options, 'rounds' | 'duration' | 'short' | 'openRuns' | 'root' | 'litellm' | 'profile'>,
  tallies: readonly Tally[],
): Promise<void> => {
  const { duration, short, openRuns, root, litellm, profile } = options;
  const rounds = options.rounds ?? (short || profile !== undefined ? 1 : (benchmark.rounds ?? ROUNDS));
  for (let round = 0; round < rounds; round += 1) {
    for (const tally of tallies) {
      const measured = await benchmark.run({
        short,
        build: tally.build,
        openRuns,
        root,
        litellm,
        profile,
        folder: newFolder,
        roundMs: (usual) =>
          duration === undefined ? (short ? SHORT_ROUND_MS : usual) : Math.round(duration * 1000),
        note: (text) => tally.notes.push(text),
        report: (text) => process.stderr.write(`${benchmark.name}: ${text}\n`),
      });
      tally.measured = joined(tally.measured, measured);
    }
  }
};

const shortRow = (row: Row): Row => ({
  ...row,
  counted: false,
  reason: 'the figures of a short run mean nothing',
});

export const outcomeOf = (
  { name, title }: Benchmark,
  { notes, measured }: Tally,
  { short }: Pick<Options, 'short'>,
): Outcome => ({
  name,
  title,
  rows: measured.map(rowOf).map((row) => (short ? shortRow(row) : row)),
  // The same in every round, most of them.
  notes: [...new Set(notes)],
});
