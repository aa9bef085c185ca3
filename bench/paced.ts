import { type LoadOptions, runLoad, runOf } from '../src/load/index.ts';
import { createDelivery } from './delivery.ts';
import type { Benchmark, Context, Row } from './result.ts';
import { framesOf, type Server, startBare, startTroupe } from './servers.ts';
import { processorSeconds } from './usage.ts';

/**
 * How many streams of 50 tokens a second one core carries while 99 of 100 tokens arrive within 50 ms of their
 * time. The load is opened over the length of a stream, so that starts are spread; it counts once all are open.
 */

const PACE_MS = 20;
const TOKENS = 200;
const LIMIT_MS = 50;

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
  const ramp_ms = short ? 300 : PACE_MS * TOKENS;
  const duration_ms = ramp_ms * 2;
  const began = performance.now();
  const delivery = createDelivery({
    pace_ms: PACE_MS,
    tokens: TOKENS,
    leading: target.leading,
    from: began + ramp_ms,
    until: began + duration_ms + (short ? PACE_MS * TOKENS : 0),
  });
  const options: LoadOptions = {
    url: target.server.url + target.path,
    connections: streams,
    ramp_ms,
    duration_ms,
    body: runOf('bench-paced'),
    onEvents: delivery.onEvents,
    onSample: delivery.onSample,
  };
  const used = processorSeconds(target.server.process.pid) ?? Number.NaN;
  const busy = performance.eventLoopUtilization();
  const report = await runLoad(options);
  return {
    streams,
    p50: delivery.lateness(50),
    p99: delivery.lateness(99),
    tokens: delivery.tokens,
    failed: Object.values(report.errors).reduce((sum, count) => sum + count, 0),
    server: ((processorSeconds(target.server.process.pid) ?? Number.NaN) - used) / report.seconds,
    load: performance.eventLoopUtilization(busy).utilization,
  };
};

const holds = (step: Step): boolean => step.failed === 0 && step.tokens > 0 && step.p99 <= LIMIT_MS;

/** Twice as many until it does not hold, then halfway between the last that did and the first that did not. */
const search = async (
  context: Context,
  target: Target,
): Promise<{ best: Step | undefined; steps: Step[] }> => {
  const steps: Step[] = [];
  let best: Step | undefined;
  let tooMany = Number.POSITIVE_INFINITY;
  const attempt = async (streams: number): Promise<void> => {
    // A second try, because a machine that stood still for a moment says nothing about the server.
    for (let tries = 0; tries < 2 && best?.streams !== streams; tries += 1) {
      const step = await play(context, target, streams);
      steps.push(step);
      if (holds(step)) best = step;
    }
    if (best?.streams !== streams) tooMany = streams;
  };
  if (context.short) await attempt(SHORT_STREAMS);
  else {
    for (let streams = 500; streams < tooMany && streams <= MOST; streams *= 2) await attempt(streams);
    for (let halving = 0; halving < HALVINGS && tooMany <= MOST; halving += 1) {
      await attempt(Math.round((tooMany + (best?.streams ?? 0)) / 2));
    }
  }
  return { best, steps };
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
    const server = await startTroupe(context, 'process');
    const bare = await startBare(context, await framesOf(server.url, runOf('bench')(0)));
    const mine = await search(context, { server, path: '', leading: 2 });
    await server.process.stop();
    const theirs = await search(context, { server: bare, path: '/paced', leading: 0 });
    await bare.process.stop();
    for (const note of [...describe('Troupe', mine.steps), ...describe('bare', theirs.steps)])
      context.note(note);
    context.note(
      'streams that start and end meanwhile are durable runs on Troupe, and nothing on the bare loop',
    );
    return [row(mine.best, theirs.best)];
  },
};

const row = (best: Step | undefined, baseline: Step | undefined): Row => {
  const [mine, theirs] = [best?.streams ?? 0, baseline?.streams ?? 0];
  const ratio = mine / theirs;
  return {
    metric: 'paced streams, process',
    unit: 'streams',
    troupe: mine,
    baseline: theirs,
    ...(theirs > 0 && { ratio: { value: ratio, min: ratio, max: ratio } }),
    ...(best && { p50: best.p50, p99: best.p99 }),
    target: 'at least 3000',
  };
};
