import type { Benchmark, Context } from './benchmark.ts';
import type { Build } from './build.ts';
import { startChild } from './child.ts';
import { freePort, untilHealthy } from './health.ts';
import { startMeasured } from './program.ts';
import { interleaved, median, percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import { spawnTroupe } from './servers.ts';

/**
 * Time from the start of the process until /health responds, with an empty folder and with one of a million events.
 * Baseline: node that opens the same folder with bare lmdb and exits.
 */

const EVENTS = { full: 1_000_000, short: 2000 };

/** Starts per round; the figure is their median. */
const STARTS = { full: 5, short: 1 };

/** Created once per build, because a start does not change the number of events. */
const filled = new Map<Build, Promise<string>>();

const filledFolder = (context: Context, events: number): Promise<string> => {
  const made = filled.get(context.build) ?? fillFolder(context, events);
  filled.set(context.build, made);
  return made;
};

const fillFolder = async (context: Context, events: number): Promise<string> => {
  const dir = context.folder();
  const filler = startMeasured(context.build, 'fill-events', [dir, String(events)]);
  await filler.line(/filled/);
  await filler.exited;
  return dir;
};

const startMs = async (context: Context, dir: string): Promise<number> => {
  const port = await freePort();
  const began = performance.now();
  const child = spawnTroupe(context, { durability: 'power', dir, port });
  await untilHealthy(child, `http://127.0.0.1:${port}`);
  const took = performance.now() - began;
  await child.stop();
  return took;
};

const OPEN = `
import { open } from 'lmdb';
open({ path: process.argv[1], noSubdir: false, maxDbs: 32 });
process.exit();
`;

const bareMs = async (dir: string): Promise<number> => {
  const began = performance.now();
  await startChild(['--input-type=module', '-e', OPEN, dir]).exited;
  return performance.now() - began;
};

const measure = async (
  context: Context,
  metric: string,
  most: number,
  dirOf: () => string,
): Promise<Measured> => {
  const starts = context.short ? STARTS.short : STARTS.full;
  const times = await interleaved(starts, {
    troupe: () => startMs(context, dirOf()),
    bare: () => bareMs(dirOf()),
  });
  return {
    metric: `start until /health answers, ${metric}`,
    unit: 'ms',
    baseline: 'node that opens bare lmdb',
    aim: { of: 'value', most },
    rounds: [
      {
        value: median(times.troupe),
        baseline: median(times.bare),
        p50: median(times.troupe),
        p99: percentile(times.troupe, 99),
      },
    ],
  };
};

export const startup: Benchmark = {
  name: 'startup',
  title: 'startup: until /health answers, against node that opens bare lmdb; p99 is the slowest of a round',
  async run(context) {
    const events = context.short ? EVENTS.short : EVENTS.full;
    const folder = await filledFolder(context, events);
    return [
      await measure(context, 'empty folder', 300, () => context.folder()),
      await measure(context, `${events.toLocaleString('en-US')} events`, 400, () => folder),
    ];
  },
};
