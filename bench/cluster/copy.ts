import type { Postgres } from '../../test/cluster/postgres.ts';
import type { Context } from '../benchmark.ts';
import { startMeasured } from '../program.ts';
import type { Answer, Order } from '../programs/copy-reader.ts';
import { interleaved, median } from '../rounds.ts';
import type { Measured } from '../row.ts';

/** Rows that one core copies from the database into a folder, with all that is derived from them. */

const RUNS = 10_000;
const SHORT_RUNS = 64;
const REPEATS = 3;
const LEAST = 0.3;

const rateOf = ({ rows, cpuMs }: Answer): number => rows / (cpuMs / 1000);

export const measureCopy = async (context: Context, postgres: Postgres): Promise<Measured> => {
  const { build, short, folder, note } = context;
  const reader = startMeasured(build, 'copy-reader', [postgres.url(postgres.createDatabase()), folder()]);
  // The program responds to every order with an Answer.
  const ask = async (order: Order): Promise<Answer> => (await reader.ask(order)) as Answer;
  try {
    await ask({ of: 'fill', runs: short ? SHORT_RUNS : RUNS });
    await ask({ of: 'bare' });
    const { copied, bare } = await interleaved(short ? 1 : REPEATS, {
      copied: () => ask({ of: 'copy' }),
      bare: () => ask({ of: 'bare' }),
    });
    note(`the whole copy has ${median(copied.map(({ rows }) => rows)).toLocaleString('en')} rows`);
    return {
      metric: 'whole copy of a database',
      unit: 'rows/s of a core',
      better: 'higher',
      baseline: 'bare select and puts on bare lmdb',
      aim: { of: 'ratio', least: LEAST },
      rounds: [{ value: median(copied.map(rateOf)), baseline: median(bare.map(rateOf)) }],
    };
  } finally {
    await reader.stop();
  }
};
