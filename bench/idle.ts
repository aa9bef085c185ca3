import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { COLLECT, COLLECTS } from './collect.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import { playLoad } from './load.ts';
import { startClient } from './program.ts';
import type { Wish } from './programs/idle-clients.ts';
import type { Aim, Measured } from './row.ts';
import { type Server, startTroupe } from './servers.ts';
import { fileLimit, residentKiB } from './usage.ts';

/**
 * 10,000 streams whose model is silent, and one client that never reads its stream: other streams keep their pace, and
 * an idle stream costs little memory.
 */

const SPARE_FILES = 300;

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Memory = { asItIs: number; collected: number };

const memoryOf = async (server: Server): Promise<Memory> => {
  await after(1500);
  const asItIs = residentKiB(server.process.pid);
  server.process.signal(COLLECT);
  await after(1500);
  return { asItIs, collected: residentKiB(server.process.pid) };
};

const pacedStreams = async (context: Context, server: Server): Promise<Delivery> => {
  const { short } = context;
  const delivery = createDelivery({
    pace_ms: 20,
    tokens: 200,
    leading: 2,
    from: 0,
    until: Number.POSITIVE_INFINITY,
  });
  await playLoad(server, {
    connections: short ? 5 : 50,
    ...(short ? { streams: 5 } : { duration_ms: context.roundMs(6000), ramp_ms: 1000 }),
    rest_ms: 0,
    body: createRunBody('bench-paced'),
    onEvents: delivery.onEvents,
    onSample: delivery.onSample,
  });
  return delivery;
};

const paceRow = (metric: string, beside: Delivery, alone: Delivery): Measured => ({
  metric: `p99 of the gap between tokens, ${metric}`,
  unit: 'ms',
  baseline: 'without idle streams',
  rounds: [{ value: beside.gap(99), baseline: alone.gap(99), p50: beside.gap(50), p99: beside.gap(99) }],
});

const memoryRow = (metric: string, kib: number, aim?: Aim): Measured => ({
  metric,
  unit: 'KiB',
  ...(aim && { aim }),
  rounds: [{ value: kib }],
});

const measure = async (context: Context, wanted: number): Promise<Measured[]> => {
  const server = await startTroupe(context, { nodeArguments: COLLECTS });
  const clients = startClient(context.build, 'idle-clients', [server.url]);
  const ask = (wish: Wish): Promise<unknown> => clients.ask(wish);

  const streams = context.short ? 100 : 5000;
  await playLoad(server, { connections: 16, streams, body: createRunBody('bench') });
  const alone = await pacedStreams(context, server);
  const before = await memoryOf(server);
  const began = performance.now();
  const answer = await ask({ agent: 'bench-silent', count: wanted, reads: true });
  context.note(`${JSON.stringify(answer)} of ${wanted} after ${Math.round(performance.now() - began)} ms`);
  const now = await memoryOf(server);
  const beside = await pacedStreams(context, server);
  await ask({ agent: 'bench-flood', count: 1, reads: false });
  const besideFlood = await pacedStreams(context, server);
  await clients.stop();
  await server.process.stop();
  const each = (of: keyof Memory): number => (now[of] - before[of]) / wanted;
  return [
    paceRow(`with ${wanted} idle streams`, beside, alone),
    paceRow('with them and a client that never reads', besideFlood, alone),
    memoryRow('resident memory of an idle stream, its run included', each('asItIs'), {
      of: 'value',
      most: 20,
    }),
    memoryRow('the same, after a collection', each('collected')),
  ];
};

export const idle: Benchmark = {
  name: 'idle',
  title:
    'idle: paced streams with idle ones open (p50 and p99: ms between two tokens), memory of an idle stream',
  async run(context) {
    const wanted = context.short ? 100 : 10_000;
    const limit = fileLimit() ?? 0;
    if (limit >= wanted + SPARE_FILES) return measure(context, wanted);
    context.note(
      `skipped: a process may open ${limit} files, ${wanted + SPARE_FILES} are needed (ulimit -Hn)`,
    );
    return [];
  },
};
