import type { Benchmark, Context } from './benchmark.ts';
import type { Child } from './child.ts';
import { BenchError } from './error.ts';
import { startClient } from './program.ts';
import type { ReadersAnswer, ReadersOrder } from './programs/event-readers.ts';
import { interleaved, median, percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import { readFrames, type Server, startTroupe } from './servers.ts';
import { usageFrom } from './usage.ts';

/**
 * One run in full fidelity, of 200 tokens, whose thread is watched by no reader, by one, and by a thousand event
 * streams: the rate of delivered events, and the cost for the run. The next run starts when every reader has the last
 * event of the previous one, so a run affects only its own readers. Readers run in a separate process.
 */

const AGENT = 'bench';

const planOf = ({ short }: Context) =>
  short ? { readers: 50, repeats: 1, runs: 3 } : { readers: 1000, repeats: 2, runs: 20 };

type Watched = { thread: string; readers: Child | undefined };

/** A run, and the time until its client and its readers have received everything. */
type Watch = { run_ms: number; whole_ms: number; events: number };

type Played = { watches: Watch[]; rate: number; cost: number };

const ask = async (readers: Child, order: ReadersOrder): Promise<ReadersAnswer> => {
  // The program responds to every order with a ReadersAnswer.
  const answer = (await readers.ask(order)) as ReadersAnswer;
  if ('failed' in answer) throw new BenchError(`event readers: ${answer.failed}`);
  return answer;
};

const watchedBy = async ({ build }: Context, url: string, count: number): Promise<Watched> => {
  const thread = `watched-by-${count}`;
  if (count === 0) return { thread, readers: undefined };
  const readers = startClient(build, 'event-readers', [url]);
  await ask(readers, { open: count, path: `/v1/threads/${thread}/events/stream` });
  return { thread, readers };
};

const watch = async (server: Server, { thread, readers }: Watched): Promise<Watch> => {
  const body = { agentId: AGENT, threadId: thread, messages: [{ role: 'user', content: 'Go.' }] };
  const began = performance.now();
  await readFrames(server, JSON.stringify(body));
  const run_ms = performance.now() - began;
  const answer = readers && (await ask(readers, { finish: true }));
  const events = answer && 'events' in answer ? answer.events : 0;
  return { run_ms, whole_ms: performance.now() - began, events };
};

const play = async (server: Server, watched: Watched, runs: number): Promise<Played> => {
  const used = usageFrom(server.process.pid);
  const watches: Watch[] = [];
  for (let run = 0; run < runs; run += 1) watches.push(await watch(server, watched));
  const cost = used().processor / runs;
  const sum = (of: 'whole_ms' | 'events'): number => watches.reduce((total, each) => total + each[of], 0);
  return { watches, rate: (sum('events') * 1000) / sum('whole_ms'), cost };
};

const rateRow = (metric: string, many: readonly Played[], one: readonly Played[]): Measured => {
  const rate = (played: readonly Played[]): number => median(played.map((each) => each.rate));
  return {
    metric,
    unit: 'events/s',
    better: 'higher',
    baseline: '1 reader',
    rounds: [{ value: rate(many), baseline: rate(one) }],
  };
};

const runRow = (metric: string, watched: readonly Played[], alone: readonly Played[]): Measured => {
  const times = watched.flatMap(({ watches }) => watches.map(({ run_ms }) => run_ms));
  const cost = (played: readonly Played[]): number => median(played.map((each) => each.cost));
  return {
    metric,
    unit: 'ms of CPU',
    baseline: 'without a reader',
    rounds: [{ value: cost(watched), baseline: cost(alone), p50: median(times), p99: percentile(times, 99) }],
  };
};

export const fanOut: Benchmark = {
  name: 'fan-out',
  title: 'fan-out: a run in full fidelity, watched by event streams; p50 and p99 are ms for the run',
  async run(context) {
    const { readers, repeats, runs } = planOf(context);
    const server = await startTroupe(context, { flags: ['--event-capture-mode', 'full_fidelity'] });
    const [none, one, many] = [
      await watchedBy(context, server.url, 0),
      await watchedBy(context, server.url, 1),
      await watchedBy(context, server.url, readers),
    ];
    try {
      for (const watched of [none, one, many]) await play(server, watched, context.short ? 1 : 10);
      const played = await interleaved(repeats, {
        none: () => play(server, none, runs),
        one: () => play(server, one, runs),
        many: () => play(server, many, runs),
      });
      context.note(`one run is ${played.one[0]?.watches[0]?.events} events in the log of its thread`);
      return [
        rateRow(`events delivered to ${readers} readers together`, played.many, played.one),
        runRow(`a run with ${readers} readers`, played.many, played.none),
        runRow('a run with 1 reader', played.one, played.none),
      ];
    } finally {
      await Promise.all([one.readers?.stop(), many.readers?.stop(), server.process.stop()]);
    }
  },
};
