import { agentsModule } from './agents.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { BenchError } from './error.ts';
import { startGrowthStore } from './growth-store.ts';
import { median, percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import { type Server, startTroupe } from './servers.ts';

/**
 * Costs of a round at the end of a long run compared with its start: the commit of a step alone, and the whole round
 * over HTTP, from one `step_start` to the next. Each run gives one value for each end.
 */

const sizesOf = ({ short }: Context) =>
  short ? { rounds: 20, block: 5, runs: 2, warmUp: 1 } : { rounds: 200, block: 20, runs: 6, warmUp: 3 };

const TOOLS = 2;

/** Both ends of one run, each the mean of a block of rounds. */
type Ends = { beginning: number; end: number };

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The first round is dropped, because it includes the start of the run. */
const endsOf = (costs: readonly number[], block: number): Ends => ({
  beginning: mean(costs.slice(1, 1 + block)),
  end: mean(costs.slice(-block)),
});

const rowOf = (metric: string, unit: string, runs: readonly Ends[]): Measured => {
  const [late, early] = [runs.map(({ end }) => end), runs.map(({ beginning }) => beginning)];
  return {
    metric,
    unit,
    baseline: 'its beginning',
    aim: { of: 'ratio', most: 1.2 },
    rounds: [{ value: median(late), baseline: median(early), p50: median(late), p99: percentile(late, 99) }],
  };
};

/** Threads that step together in one commit, because a single step is too short to measure. */
const THREADS = 16;

const storeRow = async (context: Context): Promise<Measured> => {
  const { rounds, block, runs, warmUp } = sizesOf(context);
  const store = startGrowthStore(context, context.folder());
  const runOnce = async (): Promise<Ends> => {
    const which = { threads: THREADS, messages: 0 };
    await store.ask({ do: 'fill', status: 'running', ...which });
    const costs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { milliseconds } = await store.ask({ do: 'step', ...which });
      costs.push((milliseconds * 1000) / THREADS);
    }
    return endsOf(costs, block);
  };
  for (let run = 0; run < warmUp; run += 1) await runOnce();
  const ends: Ends[] = [];
  for (let run = 0; run < runs; run += 1) ends.push(await runOnce());
  await store.stop();
  return rowOf(`commit of a step, at the end of ${rounds} rounds`, 'µs', ends);
};

/** Times in milliseconds at which the steps of a new run became visible. */
const stepTimes = async ({ name, url }: Server): Promise<number[]> => {
  const messages = [{ role: 'user', content: 'Go.' }];
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId: 'bench-rounds', messages }),
  });
  if (!response.ok || !response.body) throw new BenchError(`${name} answered ${response.status}`);
  const times: number[] = [];
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const at = performance.now();
    const frames = (rest + text).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) if (frame.includes('"event_type":"step_start"')) times.push(at);
  }
  return times;
};

const httpRow = async (context: Context): Promise<Measured> => {
  const { rounds, block, runs, warmUp } = sizesOf(context);
  const server = await startTroupe(context, { flags: ['--config', agentsModule(context, { rounds })] });
  const runOnce = async (): Promise<Ends> => {
    const times = await stepTimes(server);
    // The final step contains the completion.
    if (times.length !== rounds + 1)
      throw new BenchError(`a run of ${rounds} rounds had ${times.length} steps`);
    const costs = times.slice(1).map((time, round) => time - (times[round] ?? Number.NaN));
    return endsOf(costs, block);
  };
  for (let run = 0; run < warmUp; run += 1) await runOnce();
  const ends: Ends[] = [];
  for (let run = 0; run < runs; run += 1) ends.push(await runOnce());
  await server.process.stop();
  return rowOf(`a round of ${TOOLS} tools over HTTP, at the end of ${rounds} rounds`, 'ms', ends);
};

export const longRun: Benchmark = {
  name: 'rounds',
  title: 'rounds: the last rounds of a long run, compared with its first',
  run: async (context) => [await storeRow(context), await httpRow(context)],
};
