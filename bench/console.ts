import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { agentsModule } from './agents.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { type Opened, openPage } from './browser.ts';
import { traceMainThread } from './main-thread.ts';
import { startReplay } from './replay.ts';
import { median, percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import { ADMIN_TOKEN, startTroupe } from './servers.ts';

/**
 * The console in a real Chromium without a graphics card, on the other core than the service: CPU time of its main
 * thread per frame while 10,000 runs move. A frame may take 1000 / 58 ms.
 */

const planOf = ({ short }: Context) =>
  short ? { moving: 20, watch_ms: 500 } : { moving: 10_000, watch_ms: 6000 };

/** Transitions a second of all runs together. */
const A_SECOND = 1500;

const ROUNDS = 3;

/** Times between frames, in milliseconds. */
const frameTimes = async (page: Page): Promise<() => Promise<number[]>> => {
  await page.evaluate(`{
    const times = (window.frameTimes = []);
    let before = performance.now();
    const next = (now) => { times.push(now - before); before = now; requestAnimationFrame(next); };
    requestAnimationFrame(next);
  }`);
  return async () => ((await page.evaluate('window.frameTimes')) as number[]).slice(1);
};

const SCREENS = [
  { name: 'all statecharts', path: '/statecharts', ready: 'canvas' },
  { name: 'the statechart of runs', path: '/statecharts/run', ready: 'canvas' },
  { name: 'the list of runs', path: '/runs', ready: 'tbody tr' },
] as const;

const MOST_MS = 1000 / 58;

const screenRow = async (
  context: Context,
  opened: Opened,
  { name, path, ready }: (typeof SCREENS)[number],
): Promise<Measured> => {
  const { moving, watch_ms } = planOf(context);
  const page = await opened.go(path);
  await page.locator(ready).first().waitFor();
  await setTimeout(context.short ? 200 : 4000);
  const times = await frameTimes(page);
  const { frames, total, longest, ...parts } = await traceMainThread(opened.browser, page, () =>
    setTimeout(watch_ms),
  );
  const between = await times();
  await page.close();
  const shares = Object.entries(parts).map(([kind, ms]) => `${kind} ${(ms / frames).toFixed(2)}`);
  context.note(
    `${name}: ${frames} frames of ${(total / frames).toFixed(2)} ms in ${watch_ms / 1000} s, the longest task ${longest.toFixed(1)} ms; ${shares.join(', ')}`,
  );
  return {
    metric: `a frame of ${name}, ${moving} runs moving`,
    unit: 'ms of CPU',
    aim: { of: 'value', most: MOST_MS },
    rounds: [{ value: total / frames, p50: median(between), p99: percentile(between, 99) }],
  };
};

const frameRows = async (context: Context): Promise<Measured[]> => {
  const server = await startTroupe(context, {
    flags: ['--config', agentsModule(context, { rounds: ROUNDS })],
  });
  const replay = await startReplay(server, 'bench-rounds', {
    runs: planOf(context).moving,
    a_second: A_SECOND,
  });
  try {
    const opened = await openPage(replay.url, ADMIN_TOKEN);
    if (!opened) {
      context.note('no browser was found: set CHROMIUM to the path of one');
      return [];
    }
    const rows: Measured[] = [];
    for (const screen of SCREENS) {
      context.report(screen.name);
      rows.push(await screenRow(context, opened, screen));
    }
    await opened.close();
    return rows;
  } finally {
    replay.close();
    await server.process.stop();
  }
};

export const consoleFrames: Benchmark = {
  name: 'console',
  title: 'console: the main thread of a page; p50 and p99 are ms between frames',
  run: frameRows,
};
