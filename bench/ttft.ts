import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark } from './benchmark.ts';
import { playLoad } from './load.ts';
import { onAllCores } from './pin.ts';
import { percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import { type Durability, type Server, startTroupe } from './servers.ts';
import { type StoreWorker, startStoreWorker } from './store-worker.ts';

/**
 * Time to first token on an idle server, with sequential requests and a model without latency. The unit is one bare
 * commit of the same rows (with `power`, including its flush), measured in turns with the requests. The processes are
 * not pinned, because an idle server has the host to itself.
 */

/** Long enough for the server to be idle again, with its flush done. */
const PAUSE_MS = 5;

const AIMS = { process: 2.5, power: 1.5 };

const measure = async (
  worker: StoreWorker,
  server: Server,
  durability: Durability,
  duration_ms: number,
): Promise<Measured> => {
  const found: number[] = [];
  const { granted } = await playLoad(server, {
    connections: 1,
    duration_ms,
    pause_ms: PAUSE_MS,
    rest_ms: 0,
    body: createRunBody('bench'),
    onSample: ({ ttft_ms }) => found.push(ttft_ms ?? Number.NaN),
  });
  const order = { of: 'store', durability, concurrency: 1, duration_ms, pause_ms: PAUSE_MS } as const;
  const commits = (await worker.measure(order)).milliseconds;
  return {
    metric: `first token, idle server, ${durability}`,
    unit: 'ms',
    baseline: 'one bare commit of the same rows',
    aim: { of: 'ratio', most: AIMS[durability] },
    rounds: [
      {
        value: percentile(found, 50),
        baseline: percentile(commits, 50),
        p50: percentile(found, 50),
        p99: percentile(found, 99),
        shares: { Troupe: granted },
      },
    ],
  };
};

export const ttft: Benchmark = {
  name: 'ttft',
  title:
    'ttft: first token of a durable run, idle server on all cores, in commits of the same rows (power: and their flush)',
  async run(context) {
    const worker = startStoreWorker(context, onAllCores);
    const rows: Measured[] = [];
    for (const durability of ['process', 'power'] as const) {
      const server = await startTroupe(context, { durability, place: onAllCores });
      await measure(worker, server, durability, 200);
      rows.push(await measure(worker, server, durability, context.roundMs(2500)));
      await server.process.stop();
    }
    await worker.stop();
    return rows;
  },
};
