import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { createRunBody } from '../src/load-generator/index.ts';
import { agentsModule } from './agents.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { openPage } from './browser.ts';
import { type Played, playLoad } from './load.ts';
import { interleaved, median, percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import { ADMIN_TOKEN, askJson, type Server, startTroupe } from './servers.ts';
import { usageFrom } from './usage.ts';

/**
 * The cost of watching for the service: runs that call tools as fast as possible, with and without a reader of the
 * actor stream. And the frame rate of the console while 2,000 runs move through one chart, and while a list shows a
 * thousand of them. The page is rendered by a real Chromium on the other core, without a graphics card.
 */

const ROUNDS = 3;

const planOf = ({ short }: Context) =>
  short ? { connections: 2, moving: 20, watch_ms: 500 } : { connections: 64, moving: 2000, watch_ms: 8000 };

/** Mean interval between the steps of a run: two transitions for the inference, four for its calls and its commit. */
const PAUSE_MS = 4000;

/**
 * Reads the actor stream until the returned function is called. @returns a function that stops and returns the number
 * of bytes received
 */
const startReader = async ({ url }: Server): Promise<() => Promise<number>> => {
  const stop = new AbortController();
  const response = await fetch(`${url}/v1/system/actors/stream?machine=run`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    signal: stop.signal,
  });
  let bytes = 0;
  const read = (async (): Promise<void> => {
    for await (const piece of response.body ?? []) bytes += piece.byteLength;
  })().catch(() => {});
  return async () => {
    stop.abort();
    await read;
    return bytes;
  };
};

const costOfWatching = async (context: Context): Promise<Measured> => {
  const { connections } = planOf(context);
  const body = createRunBody('bench-rounds');
  const server = await startTroupe(context, {
    flags: ['--config', agentsModule(context, { rounds: ROUNDS })],
  });
  const play = () => playLoad(server, { connections, body, duration_ms: context.roundMs(4000) });
  try {
    if (!context.short) await playLoad(server, { connections, body, duration_ms: 2000 });
    let bytes = 0;
    const { alone, watched } = await interleaved(context.short ? 1 : 3, {
      alone: play,
      watched: async () => {
        const stop = await startReader(server);
        const played = await play();
        bytes += await stop();
        return played;
      },
    });
    const runs = watched.reduce((sum, { report }) => sum + report.streams, 0);
    context.note(`the reader received ${Math.round(bytes / 1024)} KiB during ${runs} runs`);
    const medianOf = (of: readonly Played[], figure: 'cost' | 'rate' | 'share'): number =>
      median(of.map((played) => played[figure]));
    return {
      metric: `a run of ${ROUNDS} rounds with two tools, watched`,
      unit: 'ms of CPU',
      baseline: 'not watched',
      aim: { of: 'ratio', most: 1.05 },
      rounds: [
        {
          value: medianOf(watched, 'cost'),
          baseline: medianOf(alone, 'cost'),
          rates: [medianOf(watched, 'rate'), medianOf(alone, 'rate')],
          shares: { Troupe: medianOf(watched, 'share') },
        },
      ],
    };
  } finally {
    await server.process.stop();
  }
};

/** Starts runs and drops their streams; the runs continue. */
const startRuns = async ({ url }: Server, count: number): Promise<void> => {
  let left = count;
  const starter = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const stop = new AbortController();
      const response = await fetch(`${url}/v1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agentId: 'bench-moving', messages: [{ role: 'user', content: 'Go.' }] }),
        signal: stop.signal,
      });
      await response.body?.getReader().read();
      stop.abort();
    }
  };
  await Promise.all(Array.from({ length: 50 }, starter));
};

/** Times between frames, in milliseconds. */
const pictures = async (page: Page, watch_ms: number): Promise<number[]> => {
  await page.evaluate(`{
    const times = (window.pictures = []);
    let before = performance.now();
    const next = (now) => { times.push(now - before); before = now; requestAnimationFrame(next); };
    requestAnimationFrame(next);
  }`);
  await setTimeout(watch_ms);
  const times = (await page.evaluate('window.pictures')) as number[];
  return times.slice(1);
};

const SCREENS = [
  { name: 'the wall of runs', path: '/statecharts/run', ready: 'canvas' },
  { name: 'a list of 1,000 runs', path: '/runs?size=1000', ready: 'tbody tr' },
] as const;

const picturesOf = async (context: Context): Promise<Measured[]> => {
  const { moving, watch_ms } = planOf(context);
  const server = await startTroupe(context, {
    flags: ['--config', agentsModule(context, { pause_ms: PAUSE_MS })],
  });
  try {
    await startRuns(server, moving);
    const opened = await openPage(server.url, ADMIN_TOKEN);
    if (!opened) {
      context.note('no browser was found: set CHROMIUM to the path of one');
      return [];
    }
    const rows: Measured[] = [];
    const alone = usageFrom(server.process.pid);
    await setTimeout(watch_ms);
    const unwatched = alone().share;
    for (const { name, path, ready } of SCREENS) {
      const page = await opened.go(path);
      await page.locator(ready).first().waitFor();
      await setTimeout(context.short ? 200 : 3000);
      const used = usageFrom(server.process.pid);
      const times = await pictures(page, watch_ms);
      const { share } = used();
      const rate = 1000 / (times.reduce((sum, time) => sum + time, 0) / times.length);
      context.note(
        `${name}, ${moving} runs: the server used ${Math.round(share * 100)} % of its core, ` +
          `${Math.round(unwatched * 100)} % without observers`,
      );
      rows.push({
        metric: `${name}, ${moving} of them moving`,
        unit: 'pictures/s',
        better: 'higher',
        aim: { of: 'value', least: 50 },
        rounds: [{ value: rate, p50: median(times), p99: percentile(times, 99) }],
      });
      await page.close();
    }
    await opened.close();
    const { running } = Object(await askJson(server, '/v1/runs/summary'));
    context.note(`${running} runs were running at the end`);
    return rows;
  } finally {
    await server.process.stop();
  }
};

export const watched: Benchmark = {
  name: 'watched',
  title: 'watched: what watching costs, and what is seen; p50 and p99 are ms between pictures',
  async run(context) {
    return [await costOfWatching(context), ...(await picturesOf(context))];
  },
};
