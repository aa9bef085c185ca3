import { setTimeout } from 'node:timers/promises';
import { createRunBody } from '../../src/load-generator/index.ts';
import type { Context } from '../benchmark.ts';
import { type Load, playLoad } from '../load.ts';
import { onAllCores } from '../pin.ts';
import { percentile } from '../rounds.ts';
import type { Measured } from '../row.ts';
import { type Durability, durabilitiesOf, readFrames, type Server } from '../servers.ts';
import { LOADS, startUpstream, startWithProvider, type UpstreamServer } from './peers.ts';

/** Figures for a single user of an idle service: the time to the first token, and the number of new connections. */

const PAUSE_MS = 5;

const AIMS: Record<Durability, number> = { process: 2, power: 3.5 };
const P99_AIM = 6;

type FirstTokens = { times: number[]; granted: number };

async function firstTokens(context: Context, server: Server, load: Load): Promise<FirstTokens> {
  const times: number[] = [];
  const one = { ...load, connections: 1, pause_ms: PAUSE_MS, rest_ms: 0 };
  if (!context.short) await playLoad(server, { ...one, duration_ms: 500 });
  const { granted } = await playLoad(server, {
    ...one,
    duration_ms: context.roundMs(2500),
    onSample: ({ ttft_ms }) => times.push(ttft_ms ?? Number.NaN),
  });
  return { times, granted };
}

async function measureFirstToken(
  context: Context,
  upstream: UpstreamServer,
  durability: Durability,
): Promise<Measured[]> {
  const troupe = await startWithProvider(context, upstream, { durability, place: onAllCores });
  const load = LOADS.troupe('openai-chat', 'turns-20');
  try {
    const { times, granted } = await firstTokens(context, troupe, load);
    const own = await firstTokens(context, upstream, LOADS.upstream('turns-20'));
    const row = (rank: number, most: number): Measured => ({
      metric: `first token over the upstream's, idle server, ${durability}, p${rank}`,
      unit: 'ms',
      aim: { of: 'value', most },
      rounds: [
        {
          value: percentile(times, rank) - percentile(own.times, rank),
          shares: { Troupe: granted, upstream: own.granted },
        },
      ],
    });
    const textOf = (name: string, found: readonly number[]): string =>
      `${name} p50 ${percentile(found, 50).toFixed(2)} ms, p99 ${percentile(found, 99).toFixed(2)} ms`;
    context.note(`first token, ${durability}: ${textOf('Troupe', times)}; ${textOf('upstream', own.times)}`);
    return [row(50, AIMS[durability]), row(99, P99_AIM)];
  } finally {
    await troupe.process.stop();
  }
}

const SILENCE_MS = { full: 30_000, short: 100 };

/** Uses a separate upstream, because it counts the connections of all clients. */
async function measureReconnects(context: Context): Promise<Measured> {
  const upstream = await startUpstream(context);
  const troupe = await startWithProvider(context, upstream);
  const body = LOADS.troupe('openai-chat', 'burst').body ?? createRunBody('bench');
  try {
    await readFrames(troupe, body(0));
    const before = await upstream.counts();
    await setTimeout(context.short ? SILENCE_MS.short : SILENCE_MS.full);
    await readFrames(troupe, body(1));
    const after = await upstream.counts();
    return {
      metric: 'new connections of an inference after 30 s without one',
      unit: 'connections',
      aim: { of: 'value', most: 0 },
      rounds: [{ value: after.connections - before.connections }],
    };
  } finally {
    await troupe.process.stop();
    await upstream.process.stop();
  }
}

export async function measureIdleServer(context: Context, upstream: UpstreamServer): Promise<Measured[]> {
  const rows: Measured[] = [];
  for (const durability of durabilitiesOf(context)) {
    rows.push(...(await measureFirstToken(context, upstream, durability)));
  }
  return [...rows, await measureReconnects(context)];
}
