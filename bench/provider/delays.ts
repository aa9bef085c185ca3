import { createHistogram } from 'node:perf_hooks';
import { runLoad } from '../../src/load-generator/index.ts';
import type { Context } from '../benchmark.ts';
import type { Load } from '../load.ts';
import type { Measured } from '../row.ts';
import { searchMost } from '../search.ts';
import { type Server, stopAll } from '../servers.ts';
import { PACE_MS } from '../upstream/answer.ts';
import { nowMicros, readDepartures } from '../upstream/departure.ts';
import { usageFrom } from '../usage.ts';
import { LOADS, type Model, startBareProxy, startWithProvider, type UpstreamServer } from './peers.ts';

/**
 * The delay that a server adds to a token: its arrival at the client minus its departure from the upstream, on one
 * clock. Streams are opened over half of their length; a token counts while all streams are open.
 */

const TOKENS = 400;
const LENGTH_MS = PACE_MS * TOKENS;
const LIMIT_MS = 20;

/** Minimum share of the expected tokens; fewer mean that the streams did not keep their pace. */
const LEAST_PART = 0.9;

const FROM = 50;
const MOST = 6400;
const HALVINGS = 3;

/** With this pause the load generator costs a tenth; it adds up to the same time to the delay of every token. */
const SEARCH_REST_MS = 1;

type Step = { streams: number; p50: number; p99: number; tokens: number; expected: number; share: number };

type Target = { server: Server; load: (model: Model) => Load };

const holds = ({ p99, tokens, expected }: Step): boolean =>
  tokens >= LEAST_PART * expected && p99 <= LIMIT_MS;

async function play(context: Context, target: Target, streams: number, rest_ms: number): Promise<Step> {
  const ramp_ms = context.short ? 0 : LENGTH_MS / 2;
  const window = context.short
    ? { from: 0, until: Number.POSITIVE_INFINITY }
    : { from: ramp_ms * 1.1, until: LENGTH_MS };
  const began = performance.now();
  const delays = createHistogram({ figures: 3 });
  const used = usageFrom(target.server.process.pid);
  const { path = '', ...load } = target.load(context.short ? 'paced-10' : 'paced-400');
  const report = await runLoad({
    ...load,
    url: target.server.url + path,
    connections: streams,
    streams,
    ramp_ms,
    rest_ms,
    onBytes: (piece, from, to) => {
      const at = performance.now() - began;
      if (at < window.from || at > window.until) return;
      const now = nowMicros();
      // Histograms of Node accept values from 1 on.
      readDepartures(piece, from, to, (departed) => delays.record(Math.max(1, now - departed)));
    },
  });
  // An empty histogram reports 0, which would look like a good figure.
  const percentile = (rank: number): number =>
    delays.count === 0 ? Number.NaN : delays.percentile(rank) / 1000;
  const failed = Object.values(report.errors).reduce((sum, count) => sum + count, 0);
  return {
    streams,
    p50: percentile(50),
    p99: failed > 0 ? Number.POSITIVE_INFINITY : percentile(99),
    tokens: delays.count,
    expected: context.short ? streams * 10 : (streams * (window.until - window.from)) / PACE_MS,
    share: used().share,
  };
}

const describe = (name: string, { streams, p50, p99, tokens, expected, share }: Step): string =>
  `${name}, ${streams} streams of 50 tokens/s: ${p50.toFixed(2)} ms added at p50, ${p99.toFixed(2)} ms at p99, ` +
  `${Math.round((100 * tokens) / expected)} % of the tokens in time, ${Math.round(share * 100)} % of its core`;

async function search(context: Context, name: string, target: Target): Promise<Step | undefined> {
  const { best, steps } = await searchMost({
    attempt: (streams) => play(context, target, streams, SEARCH_REST_MS),
    holds,
    ...(context.short ? { from: 4, most: 4, halvings: 0 } : { from: FROM, most: MOST, halvings: HALVINGS }),
  });
  for (const step of steps) context.note(describe(name, step));
  return best?.step;
}

export async function measureDelays(context: Context, upstream: UpstreamServer): Promise<Measured[]> {
  const troupe: Target = {
    server: await startWithProvider(context, upstream),
    load: (model) => LOADS.troupe('openai-chat', model),
  };
  const bare: Target = {
    server: await startBareProxy(context, upstream),
    load: (model) => LOADS.bare('openai-chat', model),
  };
  try {
    const mine = await search(context, 'Troupe', troupe);
    const theirs = await search(context, 'the bare proxy', bare);
    const streams = Math.max(1, Math.round((mine?.streams ?? FROM) / 2));
    const [half, proxied] = [await play(context, troupe, streams, 0), await play(context, bare, streams, 0)];
    context.note(describe('half load, Troupe', half));
    context.note(describe('half load, the bare proxy', proxied));
    const baseline = 'the bare proxy';
    const delay = (rank: 'p50' | 'p99', most: number): Measured => ({
      metric: `added delay of a token at half load, ${rank}`,
      unit: 'ms',
      baseline,
      aim: { of: 'value', most },
      rounds: [{ value: half[rank], baseline: proxied[rank] }],
    });
    return [
      delay('p50', 0.5),
      delay('p99', 5),
      {
        metric: `streams of 50 tokens/s through a provider, p99 of the added delay at most ${LIMIT_MS} ms`,
        unit: 'streams',
        better: 'higher',
        baseline,
        aim: { of: 'value', least: 300 },
        rounds: [{ value: mine?.streams ?? 0, baseline: theirs?.streams ?? 0 }],
      },
    ];
  } finally {
    await stopAll([troupe.server, bare.server]);
  }
}
