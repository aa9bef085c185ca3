import { createRunBody } from '../src/load-generator/index.ts';
import type { Context } from './benchmark.ts';
import { playLoad } from './load.ts';
import { measurePairs, ratioOfPairs } from './paired.ts';
import type { Measured } from './row.ts';
import type { Server } from './servers.ts';
import { threadsRan } from './usage.ts';

/** The cost of the owner of a run: runs with and without a credential, alternating in one server. */

/** Streams of a block: long enough that blocks of one variant differ by a few percent only. */
const BLOCK = 256;
const WARMING_PAIRS = 8;
const PAIRS = 96;

const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(1)} %`;

export const measureOwnedRuns = async (
  { short, note }: Context,
  server: Server,
  headers: Record<string, string>,
): Promise<Measured> => {
  const load = { connections: short ? 2 : 64, streams: short ? 4 : BLOCK, body: createRunBody('bench') };
  const costOf = async (given: Record<string, string>): Promise<number> => {
    const before = threadsRan(server.process.pid);
    const { report } = await playLoad(server, { ...load, headers: given });
    return (threadsRan(server.process.pid) - before) / report.streams;
  };
  const variants = { value: () => costOf(headers), baseline: () => costOf({}) };
  await measurePairs(short ? 1 : WARMING_PAIRS, variants);
  const pairs = await measurePairs(short ? 2 : PAIRS, variants);
  const { ratio, low, high } = ratioOfPairs(pairs);
  note(
    `a run with an API key costs ${percent(ratio)} more than one without, with a confidence of 95 % between ${percent(low)} and ${percent(high)} (trimmed mean of ${pairs.length} pairs of blocks)`,
  );
  return {
    metric: 'a stream of a run with an API key, all at once',
    unit: 'ms of CPU',
    baseline: 'without a credential',
    aim: { of: 'ratio', most: 1.02 },
    rounds: pairs,
  };
};
