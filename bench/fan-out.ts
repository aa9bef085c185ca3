import { type Child, startChild, startProgram } from './child.ts';
import type { ReadersAnswer, ReadersOrder } from './programs/event-readers.ts';
import type { Benchmark, Context, Row } from './result.ts';
import { interleaved, median, percentile, ratioOf } from './rounds.ts';
import { framesOf, troupeArguments } from './servers.ts';
import { processorSeconds } from './usage.ts';

/**
 * One run in full fidelity, of 200 tokens, whose thread is watched by no reader, by one, and by a thousand event
 * streams: how many events they get, and what it costs the run. The next run begins when every reader has the
 * last event of the one before, so a run meets only its own readers. Readers are in a process of their own.
 */

const AGENT = 'bench';

const planOf = ({ short }: Context) =>
  short ? { readers: 50, rounds: 1, runs: 3 } : { readers: 1000, rounds: 5, runs: 20 };

type Watched = { thread: string; readers: Child | undefined };

/** A run, and the time until its client and its readers have had everything. */
type Watch = { run_ms: number; whole_ms: number; events: number };

type Round = { watches: Watch[]; rate: number; cost: number };

const startFullFidelity = async (context: Context): Promise<{ process: Child; url: string }> => {
  const options = { durability: 'process', dir: context.folder(), port: 0 } as const;
  const process = startChild([...troupeArguments(context, options), '--event-capture-mode', 'full_fidelity']);
  const [, url = ''] = await process.line(/Troupe listens on (\S+)/);
  return { process, url };
};

/** Not on the core of the server, but where this process is. */
const beside = (command: readonly string[]): readonly string[] => command;

const ask = async (readers: Child, order: ReadersOrder): Promise<ReadersAnswer> => {
  // The program answers every order with a ReadersAnswer.
  const answer = (await readers.ask(order)) as ReadersAnswer;
  if ('failed' in answer) throw new Error(`event readers: ${answer.failed}`);
  return answer;
};

const watchedBy = async (url: string, count: number): Promise<Watched> => {
  const thread = `watched-by-${count}`;
  if (count === 0) return { thread, readers: undefined };
  const readers = startProgram('event-readers', [url], beside);
  await ask(readers, { open: count, path: `/v1/threads/${thread}/events/stream` });
  return { thread, readers };
};

const watch = async (url: string, { thread, readers }: Watched): Promise<Watch> => {
  const body = { agentId: AGENT, threadId: thread, messages: [{ role: 'user', content: 'Go.' }] };
  const began = performance.now();
  await framesOf(url, JSON.stringify(body));
  const run_ms = performance.now() - began;
  const answer = readers && (await ask(readers, { finish: true }));
  const events = answer && 'events' in answer ? answer.events : 0;
  return { run_ms, whole_ms: performance.now() - began, events };
};

const play = async (
  server: { process: Child; url: string },
  watched: Watched,
  runs: number,
): Promise<Round> => {
  const before = processorSeconds(server.process.pid) ?? Number.NaN;
  const watches: Watch[] = [];
  for (let run = 0; run < runs; run += 1) watches.push(await watch(server.url, watched));
  const used = (processorSeconds(server.process.pid) ?? Number.NaN) - before;
  const sum = (of: 'whole_ms' | 'events'): number => watches.reduce((total, each) => total + each[of], 0);
  return { watches, rate: (sum('events') * 1000) / sum('whole_ms'), cost: (used * 1000) / runs };
};

const rateRow = (metric: string, many: readonly Round[], one: readonly Round[]): Row => {
  const [mine, theirs] = [many.map(({ rate }) => rate), one.map(({ rate }) => rate)];
  return {
    metric,
    unit: 'events/s',
    troupe: median(mine),
    baseline: median(theirs),
    ratio: ratioOf(mine, theirs),
  };
};

const runRow = (metric: string, watched: readonly Round[], alone: readonly Round[]): Row => {
  const times = (rounds: readonly Round[]): number[] =>
    rounds.flatMap(({ watches }) => watches.map(({ run_ms }) => run_ms));
  const medians = (rounds: readonly Round[]): number[] => rounds.map((round) => median(times([round])));
  return {
    metric,
    unit: 'ms',
    troupe: median(times(watched)),
    baseline: median(times(alone)),
    ratio: ratioOf(medians(watched), medians(alone)),
    p50: median(times(watched)),
    p99: percentile(times(watched), 99),
  };
};

export const fanOut: Benchmark = {
  name: 'fan-out',
  title: 'fan-out: a run in full fidelity, watched by event streams; p50 and p99 are ms for the run',
  async run(context) {
    const { readers, rounds, runs } = planOf(context);
    const server = await startFullFidelity(context);
    const [none, one, many] = [
      await watchedBy(server.url, 0),
      await watchedBy(server.url, 1),
      await watchedBy(server.url, readers),
    ];
    try {
      for (const watched of [none, one, many]) await play(server, watched, context.short ? 1 : 10);
      const played = await interleaved(rounds, {
        none: () => play(server, none, runs),
        one: () => play(server, one, runs),
        many: () => play(server, many, runs),
      });
      const cost = (of: keyof typeof played): string =>
        median(played[of].map((round) => round.cost)).toFixed(2);
      context.note(`one run is ${played.one[0]?.watches[0]?.events} events in the log of its thread`);
      context.note(
        `processor time of the server a run: no reader ${cost('none')} ms, one ${cost('one')} ms, ` +
          `${readers} ${cost('many')} ms`,
      );
      return [
        rateRow(`delivered to ${readers} readers together, over 1 reader`, played.many, played.one),
        runRow(`a run beside ${readers} readers, over no reader`, played.many, played.none),
        runRow('a run beside 1 reader, over no reader', played.one, played.none),
      ];
    } finally {
      await Promise.all([one.readers?.stop(), many.readers?.stop(), server.process.stop()]);
    }
  },
};
