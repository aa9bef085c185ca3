import { Agent, get } from 'node:http';
import type { Benchmark, Context } from './benchmark.ts';
import type { Build } from './build.ts';
import { startGrowthStore } from './growth-store.ts';
import { interleaved, median, percentile } from './rounds.ts';
import type { Aim, Measured } from './row.ts';
import { readFrames, type Server, startTroupe } from './servers.ts';

/**
 * Costs of a long history and of many threads: the same work in a thread of ten messages and in long ones, the same
 * list of a hundred threads and of many. The baseline of every row is the smallest of its kind.
 */

const SHORTEST = 10;
const FEWEST = 100;

const OF_SHORTEST = `in a thread of ${SHORTEST}`;

const sizesOf = ({ short }: Context) =>
  short
    ? { lengths: [SHORTEST, 100], threads: 1000, repeats: 3, steps: 4, requests: 20 }
    : { lengths: [SHORTEST, 1000, 10_000], threads: 100_000, repeats: 9, steps: 16, requests: 400 };

const figure = (number: number): string => number.toLocaleString('en-US');

type Fill = { threads: number; messages: number };

const filledFolder = async (context: Context, fills: readonly Fill[]): Promise<string> => {
  const dir = context.folder();
  const store = startGrowthStore(context, dir);
  for (const fill of fills) await store.ask({ do: 'fill', status: 'done', ...fill });
  await store.ask({ do: 'close' });
  await store.stop();
  return dir;
};

type Times = Record<string, number[]>;

const rowsOf = (
  times: Times,
  baseline: string,
  kind: { unit: string; smallest: string; aim?: Aim },
): Measured[] => {
  const { smallest, ...rest } = kind;
  return Object.entries(times)
    .filter(([name]) => name !== baseline)
    .map(([metric, values]) => ({
      ...rest,
      metric,
      baseline: smallest,
      rounds: [
        {
          value: median(values),
          baseline: median(times[baseline] ?? []),
          p50: median(values),
          p99: percentile(values, 99),
        },
      ],
    }));
};

/**
 * Number of threads, such that steps do not make a thread much longer and the messages can be written within a minute.
 */
const threadsFor = (messages: number, steps: number): number =>
  Math.max(1, Math.min(steps, Math.ceil(200_000 / messages)));

const stepRows = async (context: Context): Promise<Measured[]> => {
  const { lengths, repeats, steps } = sizesOf(context);
  const store = startGrowthStore(context, context.folder());
  for (const messages of lengths) {
    const threads = Math.max(steps, threadsFor(messages, repeats * steps));
    await store.ask({ do: 'fill', status: 'running', threads, messages });
  }
  // Warms up the compiler and the files with threads that are not measured, so that the measured ones do not grow.
  await store.ask({ do: 'fill', status: 'running', threads: steps, messages: 0 });
  for (let round = 0; round < repeats; round += 1)
    await store.ask({ do: 'step', threads: steps, messages: 0 });
  const nameOf = (messages: number) => `a step in a thread of ${figure(messages)} messages`;
  const measure = async (messages: number): Promise<number> => {
    const { milliseconds } = await store.ask({ do: 'step', threads: steps, messages });
    return (milliseconds * 1000) / steps;
  };
  const variants = Object.fromEntries(lengths.map((messages) => [nameOf(messages), () => measure(messages)]));
  const times = await interleaved(repeats, variants);
  await store.stop();
  return rowsOf(times, nameOf(SHORTEST), {
    unit: 'µs',
    smallest: OF_SHORTEST,
    aim: { of: 'ratio', most: 1.2 },
  });
};

const runMs = async (server: Server, threadId: string): Promise<number> => {
  const began = performance.now();
  const messages = [{ role: 'user', content: 'Go.' }];
  await readFrames(server, JSON.stringify({ agentId: 'bench', threadId, messages }));
  return performance.now() - began;
};

/** Two runs per thread: the first one reads the history, which is in memory for the next one. */
const runRows = async (context: Context): Promise<Measured[]> => {
  const { lengths, repeats } = sizesOf(context);
  const fills = lengths.map((messages) => ({ threads: repeats + 1, messages }));
  const server = await startTroupe(context, { dir: await filledFolder(context, fills) });
  for (let round = 0; round < repeats; round += 1) await runMs(server, `t${SHORTEST}-${repeats}`);
  const rows: Measured[] = [];
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
      ...rowsOf(await interleaved(repeats, Object.fromEntries(variants)), nameOf(SHORTEST), {
        unit: 'ms',
        smallest: OF_SHORTEST,
      }),
    );
  }
  await server.process.stop();
  return rows;
};

const LISTS = ['/v1/threads', '/v1/threads/summaries', '/v1/runs'];

const getJson = (url: string, agent: Agent): Promise<unknown> =>
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

/** Reads a list page by page, and starts over at its end. */
const walkMs = async (url: string, requests: number, agent: Agent): Promise<number[]> => {
  const times: number[] = [];
  let cursor: string | undefined;
  for (let request = 0; request < requests; request += 1) {
    const began = performance.now();
    const page = await getJson(cursor ? `${url}?cursor=${encodeURIComponent(cursor)}` : url, agent);
    times.push(performance.now() - began);
    cursor = cursorIn(page);
  }
  return times;
};

/** Created once per build, because lists change nothing. */
const ofThreads = new Map<Build, Map<number, Promise<string>>>();

const folderOfThreads = (context: Context, threads: number): Promise<string> => {
  const known = ofThreads.get(context.build) ?? new Map<number, Promise<string>>();
  ofThreads.set(context.build, known);
  const dir = known.get(threads) ?? filledFolder(context, [{ threads, messages: 0 }]);
  known.set(threads, dir);
  return dir;
};

const listRows = async (context: Context): Promise<Measured[]> => {
  const { threads, requests } = sizesOf(context);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const start = async (count: number): Promise<Server> => {
    const dir = await folderOfThreads(context, count);
    return startTroupe(context, { dir });
  };
  const [many, few] = [await start(threads), await start(FEWEST)];
  for (const list of LISTS)
    for (const server of [many, few]) await walkMs(`${server.url}${list}`, requests / 4, agent);
  const rows: Measured[] = [];
  for (const list of LISTS) {
    const times = await interleaved(context.short ? 1 : 2, {
      many: () => walkMs(`${many.url}${list}`, requests, agent),
      few: () => walkMs(`${few.url}${list}`, requests, agent),
    });
    const [many99, few99] = [percentile(times.many.flat(), 99), percentile(times.few.flat(), 99)];
    rows.push({
      metric: `p99 of GET ${list}, ${figure(threads)} threads`,
      unit: 'ms',
      baseline: `${FEWEST} threads`,
      aim: { of: 'value', most: 2 },
      rounds: [{ value: many99, baseline: few99, p50: percentile(times.many.flat(), 50), p99: many99 }],
    });
  }
  await many.process.stop();
  await few.process.stop();
  agent.destroy();
  return rows;
};

export const growth: Benchmark = {
  name: 'growth',
  title: `growth: long threads against ones of ${SHORTEST} messages, lists of many threads against ones of ${FEWEST}`,
  run: async (context) => [
    ...(await stepRows(context)),
    ...(await runRows(context)),
    ...(await listRows(context)),
  ],
};
