import { get } from 'node:http';
import { createServer } from 'node:net';
import { startChild, startProgram } from './child.ts';
import type { Benchmark, Context, Row } from './result.ts';
import { interleaved, median, percentile, ratioOf } from './rounds.ts';
import { troupeArguments } from './servers.ts';

/**
 * From the start of the process until /health answers, with an empty folder and with one of a million events.
 * Beside it: node that opens the same folder with bare lmdb and ends.
 */

const EVENTS = { full: 1_000_000, short: 2000 };

const filledFolder = async (context: Context, events: number): Promise<string> => {
  const dir = context.folder();
  const filler = startProgram('fill-events', [dir, String(events)]);
  await filler.line(/filled/);
  await filler.exited;
  return dir;
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

const isHealthy = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    get(url, { agent: false }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode === 200));
    }).on('error', () => resolve(false));
  });

const startMs = async (context: Context, dir: string): Promise<number> => {
  const port = await freePort();
  const args = troupeArguments(context, { durability: 'power', dir, port });
  const began = performance.now();
  const child = startChild(args);
  let ended = false;
  child.exited.then(() => {
    ended = true;
  });
  while (!(await isHealthy(`http://127.0.0.1:${port}/health`))) {
    if (ended) await child.line(/never printed/);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
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
  target: string,
  dirOf: () => string,
): Promise<Row> => {
  const times = await interleaved(context.short ? 1 : 7, {
    troupe: () => startMs(context, dirOf()),
    bare: () => bareMs(dirOf()),
  });
  return {
    metric,
    unit: 'ms',
    troupe: median(times.troupe),
    baseline: median(times.bare),
    ratio: ratioOf(times.troupe, times.bare),
    p50: median(times.troupe),
    p99: percentile(times.troupe, 99),
    target,
  };
};

export const startup: Benchmark = {
  name: 'startup',
  title: 'startup: until /health answers, beside node that opens bare lmdb; p99 is the slowest of seven',
  async run(context) {
    const events = context.short ? EVENTS.short : EVENTS.full;
    const filled = await filledFolder(context, events);
    return [
      await measure(context, 'empty folder', 'at most 500 ms', () => context.folder()),
      await measure(context, `${events.toLocaleString('en-US')} events`, 'at most 1000 ms', () => filled),
    ];
  },
};
