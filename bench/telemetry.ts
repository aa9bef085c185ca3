import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { BenchError } from './error.ts';
import { startGrowthStore } from './growth-store.ts';
import { besideRound, type Played, playLoad } from './load.ts';
import { percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import { ADMIN_TOKEN, type Server, startTroupe, stopAll } from './servers.ts';

/**
 * The cost of observing the runs of an agent: the same streams of an observed agent and of one that is not observed.
 */

const CONNECTIONS = 64;
const BASELINE = 'not observed';

const VARIANTS = {
  'sampled traces': ['--trace-sampling-disable', 'false', '--trace-capture-content', 'false'],
  'every trace kept': ['--trace-sampling-disable', 'true', '--trace-capture-content', 'false'],
  'every trace kept, with content': ['--trace-sampling-disable', 'true', '--trace-capture-content', 'true'],
};

/** A collector that accepts every request. */
const startCollector = async (): Promise<{ url: string; taken(): number; stop(): void }> => {
  let taken = 0;
  const server = createServer((request, response) => {
    taken += 1;
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new BenchError('the collector has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    taken: () => taken,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
};

const mean = (one: Played, other: Played): Played => ({
  ...one,
  rate: (one.rate + other.rate) / 2,
  cost: (one.cost + other.cost) / 2,
  share: Math.min(one.share, other.share),
});

const PAGES = {
  'a list of 50': '/v1/traces?limit=50',
  'a list of 50 of one agent': '/v1/traces?limit=50&agent_id=agent-7',
  'a page of 100 events': '/v1/traces/r7?offset=20&limit=100',
};

const EVENTS = 200;
const FEW = 100;

const withTraces = async (context: Context, traces: number): Promise<Server> => {
  const dir = context.folder();
  const store = startGrowthStore(context, dir);
  await store.ask({ do: 'traces', traces, events: EVENTS });
  await store.ask({ do: 'close' });
  await store.stop();
  // The traces are old, so the retention must be longer.
  return startTroupe(context, {
    dir,
    flags: ['--expose-trace-routes', 'true', '--trace-retention-days', '100000'],
  });
};

const pageMs = async ({ url }: Server, path: string, requests: number): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let request = 0; request < requests; request += 1) {
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      get(url + path, { agent, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }, (answer) => {
        answer.resume().on('end', () => {
          if (answer.statusCode === 200) resolve();
          else reject(new BenchError(`${path} answered ${answer.statusCode}`));
        });
      }).on('error', reject);
    });
    times.push(performance.now() - began);
  }
  agent.destroy();
  return times;
};

const pageRows = async (context: Context): Promise<Measured[]> => {
  const traces = context.short ? 200 : 10_000;
  const requests = context.short ? 5 : 400;
  const [many, few] = [await withTraces(context, traces), await withTraces(context, FEW)];
  try {
    const rows: Measured[] = [];
    for (const [metric, path] of Object.entries(PAGES)) {
      for (const server of [many, few]) await pageMs(server, path, requests / 4);
      const [mine, theirs] = [await pageMs(many, path, requests), await pageMs(few, path, requests)];
      const p99 = percentile(mine, 99);
      rows.push({
        metric: `p99 of ${metric}, ${traces.toLocaleString('en-US')} traces`,
        unit: 'ms',
        baseline: `${FEW} traces`,
        aim: { of: 'value', most: 5 },
        rounds: [{ value: p99, baseline: percentile(theirs, 99), p50: percentile(mine, 50), p99 }],
      });
    }
    return rows;
  } finally {
    await stopAll([many, few]);
  }
};

export const telemetry: Benchmark = {
  name: 'telemetry',
  title: `telemetry: 200 tokens each, ${CONNECTIONS} connections; p50 and p99 are ms for a whole stream`,
  async run(context) {
    const servers: [metric: string, Server][] = [];
    const collector = await startCollector();
    for (const [variant, flags] of Object.entries(VARIANTS)) {
      servers.push([`a stream, ${variant}`, await startTroupe(context, { flags })]);
    }
    const exported = await startTroupe(context, {
      flags: VARIANTS['sampled traces'],
      variables: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url },
    });
    servers.push(['a stream, sampled traces, spans by OTLP', exported]);
    const connections = context.short ? 2 : CONNECTIONS;
    const load = { duration_ms: context.roundMs(4000), connections };
    const rowOf = async ([metric, server]: (typeof servers)[number]): Promise<Measured> => {
      const plain = { ...load, body: createRunBody('bench-plain') };
      const observed = { ...load, body: createRunBody('bench-observed') };
      if (!context.short) for (const each of [plain, observed]) await playLoad(server, each);
      // The order is reversed once, because a later load finds a warmer server.
      const [first, second] = [await playLoad(server, plain), await playLoad(server, observed)];
      const [third, fourth] = [await playLoad(server, observed), await playLoad(server, plain)];
      const [theirs, mine] = [mean(first, fourth), mean(second, third)];
      return {
        metric,
        unit: 'ms of CPU',
        baseline: BASELINE,
        aim: { of: 'ratio', most: 1.05 },
        rounds: [besideRound(mine, theirs, BASELINE)],
      };
    };
    try {
      const rows: Measured[] = [];
      for (const server of servers) rows.push(await rowOf(server));
      await exported.process.stop();
      if (collector.taken() === 0) throw new BenchError('the collector got no spans');
      return [...rows, ...(await pageRows(context))];
    } finally {
      await stopAll(servers.map(([, server]) => server));
      collector.stop();
    }
  },
};
