import { runOf } from '../src/load/index.ts';
import type { Benchmark } from './benchmark.ts';
import { besideRound, type Played, playLoad } from './load.ts';
import type { Measured } from './row.ts';
import { type Server, startTroupe, stopAll } from './servers.ts';

/** What it costs that the runs of an agent are observed: the same streams of one that is and of one that is not. */

const CONNECTIONS = 64;
const BASELINE = 'not observed';

const VARIANTS = {
  'sampled traces': ['--trace-sampling-disable', 'false', '--trace-capture-content', 'false'],
  'every trace kept': ['--trace-sampling-disable', 'true', '--trace-capture-content', 'false'],
  'every trace kept, with content': ['--trace-sampling-disable', 'true', '--trace-capture-content', 'true'],
};

const mean = (one: Played, other: Played): Played => ({
  ...one,
  rate: (one.rate + other.rate) / 2,
  cost: (one.cost + other.cost) / 2,
  share: Math.min(one.share, other.share),
});

export const telemetry: Benchmark = {
  name: 'telemetry',
  title: `telemetry: 200 tokens each, ${CONNECTIONS} connections; p50 and p99 are ms for a whole stream`,
  async run(context) {
    const servers: [metric: string, Server][] = [];
    for (const [variant, flags] of Object.entries(VARIANTS)) {
      servers.push([`a stream, ${variant}`, await startTroupe(context, { flags })]);
    }
    const connections = context.short ? 2 : CONNECTIONS;
    const load = { duration_ms: context.roundMs(4000), connections };
    const rowOf = async ([metric, server]: (typeof servers)[number]): Promise<Measured> => {
      const plain = { ...load, body: runOf('bench-plain') };
      const observed = { ...load, body: runOf('bench-observed') };
      if (!context.short) for (const each of [plain, observed]) await playLoad(server, each);
      // Whatever comes second finds a warmer server.
      const [first, second] = [await playLoad(server, plain), await playLoad(server, observed)];
      const [third, fourth] = [await playLoad(server, observed), await playLoad(server, plain)];
      const [theirs, mine] = [mean(first, fourth), mean(second, third)];
      return {
        metric,
        unit: 'ms of processor',
        baseline: BASELINE,
        aim: { of: 'ratio', most: 1.05 },
        rounds: [besideRound(mine, theirs, BASELINE)],
      };
    };
    try {
      const rows: Measured[] = [];
      for (const server of servers) rows.push(await rowOf(server));
      return rows;
    } finally {
      await stopAll(servers.map(([, server]) => server));
    }
  },
};
