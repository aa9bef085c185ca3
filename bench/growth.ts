import { Agent, get } from 'node:http';
import { startProgram } from './child.ts';
import type { GrowthAnswer, GrowthOrder } from './programs/growth-store.ts';
import type { Benchmark, Context, Row } from './result.ts';
import { interleaved, median, percentile, ratioOf } from './rounds.ts';
import { framesOf, type Server, startTroupe } from './servers.ts';

/**
 * What a long history and many threads cost: the same work in a thread of ten messages and in long ones, the
 * same list of a hundred threads and of many. The baseline of every row is the smallest of its kind.
 */

const SHORTEST = 10;
const FEWEST = 100;

const sizesOf = ({ short }: Context) =>
  short
    ? { lengths: [SHORTEST, 100], threads: 1000, rounds: 3, steps: 4, requests: 20 }
    : { lengths: [SHORTEST, 1000, 10_000], threads: 100_000, rounds: 25, steps: 16, requests: 400 };

const figure = (number: number): string => number.toLocaleString('en-US');

const startStore = (dir: string) => {
  const program = startProgram('growth-store', [dir]);
  // The program answers every order with a GrowthAnswer.
  const ask = async (order: GrowthOrder) => (await program.ask(order)) as GrowthAnswer;
  return { ask, stop: program.stop };
};

type Fill = { threads: number; messages: number };

const filledFolder = async (context: Context, fills: readonly Fill[]): Promise<string> => {
  const dir = context.folder();
  const store = startStore(dir);
  for (const fill of fills) await store.ask({ do: 'fill', status: 'done', ...fill });
  await store.ask({ do: 'close' });
  await store.stop();
  return dir;
};

type Times = Record<string, number[]>;

const rowsOf = (times: Times, baseline: string, kind: Pick<Row, 'unit' | 'target'>): Row[] => {
  const shortest = times[baseline] ?? [];
  return Object.entries(times)
    .filter(([name]) => name !== baseline)
    .map(([metric, values]) => ({
      ...kind,
      metric,
      troupe: median(values),
      baseline: median(shortest),
      ratio: ratioOf(values, shortest),
      p50: median(values),
      p99: percentile(values, 99),
    }));
};

/** Threads enough that a step leaves no thread much longer, and no more messages than fit into a minute. */
const threadsFor = (messages: number, steps: number): number =>
  Math.max(1, Math.min(steps, Math.ceil(200_000 / messages)));

const stepRows = async (context: Context): Promise<Row[]> => {
  const { lengths, rounds, steps } = sizesOf(context);
  const store = startStore(context.folder());
  for (const messages of lengths) {
    const threads = Math.max(steps, threadsFor(messages, rounds * steps));
    await store.ask({ do: 'fill', status: 'running', threads, messages });
  }
  // Neither the compiler nor the files are warm yet; the threads that are measured must not grow from that.
  await store.ask({ do: 'fill', status: 'running', threads: steps, messages: 0 });
  for (let round = 0; round < rounds; round += 1)
    await store.ask({ do: 'step', threads: steps, messages: 0 });
  const nameOf = (messages: number) => `a step in a thread of ${figure(messages)} messages`;
  const measure = async (messages: number): Promise<number> => {
    const { milliseconds } = await store.ask({ do: 'step', threads: steps, messages });
    return (milliseconds * 1000) / steps;
  };
  const variants = Object.fromEntries(lengths.map((messages) => [nameOf(messages), () => measure(messages)]));
  const times = await interleaved(rounds, variants);
  await store.stop();
  return rowsOf(times, nameOf(SHORTEST), { unit: 'µs', target: 'ratio at most 1.2' });
};

const runMs = async (server: Server, threadId: string): Promise<number> => {
  const began = performance.now();
  const messages = [{ role: 'user', content: 'Go.' }];
  await framesOf(server.url, JSON.stringify({ agentId: 'bench', threadId, messages }));
  return performance.now() - began;
};

/** Two runs a thread: the first has to read the history, for the next one it is in memory. */
const runRows = async (context: Context): Promise<Row[]> => {
  const { lengths, rounds } = sizesOf(context);
  const fills = lengths.map((messages) => ({ threads: rounds + 1, messages }));
  const server = await startTroupe(context, 'process', { dir: await filledFolder(context, fills) });
  for (let round = 0; round < rounds; round += 1) await runMs(server, `t${SHORTEST}-${rounds}`);
  const rows: Row[] = [];
  for (const which of ['first', 'next']) {
    const nameOf = (messages: number) => `the ${which} run in a thread of ${figure(messages)} messages`;
    const variants = lengths.map((messages) => {
      let round = -1;
      const measure = () => {
        round += 1;
        return runMs(server, `t${messages}-${round}`);
      };
      return [nameOf(messages), measure] as const;
    });
    rows.push(
      ...rowsOf(await interleaved(rounds, Object.fromEntries(variants)), nameOf(SHORTEST), { unit: 'ms' }),
    );
  }
  await server.process.stop();
  return rows;
};

const LISTS = ['/v1/threads', '/v1/threads/summaries', '/v1/runs'];

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const getJson = (url: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
        else resolve(JSON.parse(Buffer.concat(chunks).toString()));
      });
    }).on('error', reject);
  });

const cursorIn = (page: unknown): string | undefined => {
  if (typeof page !== 'object' || page === null || !('next_cursor' in page)) return undefined;
  return typeof page.next_cursor === 'string' ? page.next_cursor : undefined;
};

/** Page after page of a list, from its start again behind its end. */
const walkMs = async (url: string, requests: number): Promise<number[]> => {
  const times: number[] = [];
  let cursor: string | undefined;
  for (let request = 0; request < requests; request += 1) {
    const began = performance.now();
    const page = await getJson(cursor ? `${url}?cursor=${encodeURIComponent(cursor)}` : url);
    times.push(performance.now() - began);
    cursor = cursorIn(page);
  }
  return times;
};

const listRows = async (context: Context): Promise<Row[]> => {
  const { threads, requests } = sizesOf(context);
  const start = async (count: number): Promise<Server> => {
    const dir = await filledFolder(context, [{ threads: count, messages: 0 }]);
    return startTroupe(context, 'process', { dir });
  };
  const [many, few] = [await start(threads), await start(FEWEST)];
  for (const list of LISTS)
    for (const server of [many, few]) await walkMs(`${server.url}${list}`, requests / 4);
  const rows: Row[] = [];
  for (const list of LISTS) {
    const times = await interleaved(context.short ? 1 : 5, {
      many: () => walkMs(`${many.url}${list}`, requests),
      few: () => walkMs(`${few.url}${list}`, requests),
    });
    const p99 = (rounds: readonly number[][]): number[] => rounds.map((round) => percentile(round, 99));
    rows.push({
      metric: `p99 of GET ${list}, ${figure(threads)} threads`,
      unit: 'ms',
      troupe: percentile(times.many.flat(), 99),
      baseline: percentile(times.few.flat(), 99),
      ratio: ratioOf(p99(times.many), p99(times.few)),
      p50: percentile(times.many.flat(), 50),
      p99: percentile(times.many.flat(), 99),
      target: 'at most 2 ms',
    });
  }
  await many.process.stop();
  await few.process.stop();
  agent.destroy();
  return rows;
};

export const growth: Benchmark = {
  name: 'growth',
  title: `growth: long threads beside ones of ${SHORTEST} messages, lists of many threads beside ones of ${FEWEST}`,
  run: async (context) => [
    ...(await stepRows(context)),
    ...(await runRows(context)),
    ...(await listRows(context)),
  ],
};
