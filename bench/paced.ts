import { setTimeout } from 'node:timers/promises';
import { createRunBody, runLoad } from '../src/load-generator/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { createDelivery } from './delivery.ts';
import type { Measured } from './row.ts';
import { type Found, searchMost } from './search.ts';
import { readFrames, type Server, startBare, startTroupe, stopAll } from './servers.ts';
import { usageFrom } from './usage.ts';

/**
 * The number of streams of 50 tokens a second that one core serves while 99 of 100 tokens arrive within 50 ms of their
 * time. The streams are opened over half of their length; tokens count while all streams are open and none starts or
 * ends, so that streaming is measured rather than runs.
 */

const PACE_MS = 20;
const TOKENS = 400;
const LIMIT_MS = 50;

/** Without pauses, the load generator saturates long before the server. They delay every token by at most this time. */
const REST_MS = 2;

const MOST = 8000;
const HALVINGS = 2;
const SHORT_STREAMS = 20;

type Step = {
  streams: number;
  p50: number;
  p99: number;
  tokens: number;
  failed: number;
  server: number;
  load: number;
};

type Target = { server: Server; path: string; leading: number };

const play = async ({ short }: Context, target: Target, streams: number): Promise<Step> => {
  const length = PACE_MS * TOKENS;
  const ramp_ms = short ? 300 : length / 2;
  const window = { from: ramp_ms * 1.1, until: length };
  const began = performance.now();
  const used = shareOfCore(target.server, window);
  const delivery = createDelivery({
    pace_ms: PACE_MS,
    tokens: TOKENS,
    leading: target.leading,
    from: began + window.from,
    until: began + window.until,
  });
  const report = await runLoad({
    url: target.server.url + target.path,
    connections: streams,
    streams,
    ramp_ms,
    rest_ms: REST_MS,
    body: createRunBody('bench-long'),
    onEvents: delivery.onEvents,
    onSample: delivery.onSample,
  });
  return {
    streams,
    p50: delivery.lateness(50),
    p99: delivery.lateness(99),
    tokens: delivery.tokens,
    failed: Object.values(report.errors).reduce((sum, count) => sum + count, 0),
    ...(await used),
  };
};

/** Shares of the server and of this process, within the window. */
const shareOfCore = async (
  { process: { pid } }: Server,
  { from, until }: { from: number; until: number },
): Promise<{ server: number; load: number }> => {
  await setTimeout(from);
  const [server, load] = [usageFrom(pid), usageFrom(process.pid)];
  await setTimeout(until - from);
  return { server: server().share, load: load().share };
};

const holds = (step: Step): boolean => step.failed === 0 && step.tokens > 0 && step.p99 <= LIMIT_MS;

const search = async (context: Context, target: Target): Promise<Found<Step>> => {
  const attempt = (streams: number): Promise<Step> => play(context, target, streams);
  const [from, most] = context.short ? [SHORT_STREAMS, SHORT_STREAMS] : [500, MOST];
  return searchMost({ attempt, holds, from, most, halvings: context.short ? 0 : HALVINGS });
};

const describe = (name: string, steps: readonly Step[]): string[] =>
  steps.map(
    (step) =>
      `${name}, ${step.streams} streams: p50 ${step.p50.toFixed(1)} ms, p99 ${step.p99.toFixed(1)} ms late, ` +
      `${step.failed} failed, server ${Math.round(step.server * 100)} % of a core, load ${Math.round(step.load * 100)} %`,
  );

export const paced: Benchmark = {
  name: 'paced',
  title: `paced: streams of 50 tokens/s with p99 at most ${LIMIT_MS} ms late; p50 and p99 are ms at that count`,
  async run(context) {
    const server = await startTroupe(context);
    const frames = await readFrames(server, createRunBody('bench')(0));
    const delta = frames.filter((frame) => frame.includes('"text_delta"'));
    const bare = await startBare(context, [...delta, ...delta, 'data: "run_finish"\n\n']);
    try {
      const mine = await search(context, { server, path: '', leading: 2 });
      const theirs = await search(context, { server: bare, path: '/paced', leading: 0 });
      for (const note of [...describe('Troupe', mine.steps), ...describe('bare', theirs.steps)])
        context.note(note);
      return [rowOf(mine.best?.step, theirs.best?.step)];
    } finally {
      await stopAll([server, bare]);
    }
  },
};

const rowOf = (best: Step | undefined, beside: Step | undefined): Measured => ({
  metric: `streams of 50 tokens/s, p99 delay at most ${LIMIT_MS} ms`,
  unit: 'streams',
  better: 'higher',
  baseline: 'the bare loop',
  aim: { of: 'ratio', least: 0.95 },
  rounds: [
    {
      value: best?.streams ?? 0,
      baseline: beside?.streams ?? 0,
      ...(best && { p50: best.p50, p99: best.p99 }),
    },
  ],
});
