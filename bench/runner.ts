import type { Benchmark } from './benchmark.ts';
import type { Build } from './build.ts';
import { newFolder } from './folders.ts';
import type { Options } from './options.ts';
import type { Outcome } from './result-file.ts';
import { createRow, joined, type Measured, type Row } from './row.ts';

/** Runs benchmarks one round at a time, for one build or alternating between two. */

const ROUNDS = 3;
const SHORT_ROUND_MS = 50;

/** Measurements of one build, with the samples of all rounds. */
export type Tally = { build: Build; notes: string[]; measured: Measured[] };

export const createTally = (build: Build): Tally => ({ build, notes: [], measured: [] });

/** Every build is measured in every round, so that changes on the host affect all of them. */
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
  reason: 'the figures of a short run have no meaning',
});

export const createOutcome = (
  { name, title }: Benchmark,
  { notes, measured }: Tally,
  { short }: Pick<Options, 'short'>,
): Outcome => ({
  name,
  title,
  rows: measured.map(createRow).map((row) => (short ? shortRow(row) : row)),
  // Most notes are the same in every round.
  notes: [...new Set(notes)],
});
