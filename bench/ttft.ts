import { runLoad, runOf } from '../src/load/index.ts';
import { onAllCores } from './pin.ts';
import type { Benchmark, Context, Row } from './result.ts';
import { interleaved, percentile, ratioOf } from './rounds.ts';
import { type Durability, type Server, startTroupe } from './servers.ts';
import { type StoreWorker, startStoreWorker } from './store-worker.ts';

/**
 * Time to first token on an idle server, one request after the other, over a model that takes no time. The unit
 * is one bare commit of the same rows (with `power`, and its flush), measured in turns with the requests. Nothing
 * is pinned here: an idle server has the machine to itself.
 */

/** Long enough for the server to be idle again, its flush done. */
const PAUSE_MS = 5;

const measure = async (
  { short }: Context,
  worker: StoreWorker,
  server: Server,
  durability: Durability,
): Promise<Row> => {
  const duration_ms = short ? 200 : 2500;
  const times = await interleaved(short ? 1 : 3, {
    requests: async () => {
      const found: number[] = [];
      await runLoad({
        url: server.url,
        connections: 1,
        duration_ms,
        pause_ms: PAUSE_MS,
        body: runOf('bench'),
        onSample: ({ ttft_ms }) => found.push(ttft_ms ?? Number.NaN),
      });
      return found;
    },
    commits: async () => {
      const order = { of: 'store', durability, concurrency: 1, duration_ms, pause_ms: PAUSE_MS } as const;
      return (await worker.measure(order)).milliseconds;
    },
  });
  const medians = (rounds: readonly number[][]): number[] => rounds.map((round) => percentile(round, 50));
  const all = times.requests.flat();
  return {
    metric: `first token, ${durability}`,
    unit: 'ms',
    troupe: percentile(all, 50),
    baseline: percentile(times.commits.flat(), 50),
    ratio: ratioOf(medians(times.requests), medians(times.commits)),
    p50: percentile(all, 50),
    p99: percentile(all, 99),
    target: 'at most 1.3',
  };
};

export const ttft: Benchmark = {
  name: 'ttft',
  title:
    'ttft: first token of a durable run, idle server on all cores, in commits of the same rows (power: and their flush)',
  async run(context) {
    const worker = startStoreWorker(context, onAllCores);
    const rows: Row[] = [];
    for (const durability of ['process', 'power'] as const) {
      const server = await startTroupe(context, durability, { place: onAllCores });
      await measure({ ...context, short: true }, worker, server, durability);
      rows.push(await measure(context, worker, server, durability));
      await server.process.stop();
    }
    await worker.stop();
    return rows;
  },
};
