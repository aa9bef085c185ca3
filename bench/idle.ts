import { runLoad, runOf } from '../src/load/index.ts';
import { startProgram } from './child.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import type { Wish } from './programs/idle-clients.ts';
import type { Benchmark, Context, Row } from './result.ts';
import { ratioOf } from './rounds.ts';
import { type Server, startTroupe } from './servers.ts';
import { fileLimit, residentKiB } from './usage.ts';

/**
 * 10,000 streams whose model is silent, and one client that never reads what it is sent: other streams keep
 * their pace, and an idle stream costs little memory.
 */

const SPARE_FILES = 300;

/** A collection when asked for one: memory that is in use, apart from what waits to be collected. */
const COLLECTS_ON_SIGNAL = [
  '--expose-gc',
  "--import=data:text/javascript,process.on('SIGUSR2',()=>globalThis.gc())",
];

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Memory = { asItIs: number; collected: number };

const memoryOf = async (server: Server): Promise<Memory> => {
  await after(1500);
  const asItIs = residentKiB(server.process.pid) ?? Number.NaN;
  server.process.signal('SIGUSR2');
  await after(1500);
  return { asItIs, collected: residentKiB(server.process.pid) ?? Number.NaN };
};

const pacedStreams = async ({ short }: Context, server: Server): Promise<Delivery> => {
  const delivery = createDelivery({
    pace_ms: 20,
    tokens: 200,
    leading: 2,
    from: 0,
    until: Number.POSITIVE_INFINITY,
  });
  await runLoad({
    url: server.url,
    connections: short ? 5 : 50,
    ...(short ? { streams: 5 } : { duration_ms: 6000, ramp_ms: 1000 }),
    body: runOf('bench-paced'),
    onEvents: delivery.onEvents,
    onSample: delivery.onSample,
  });
  return delivery;
};

const paceRow = (metric: string, idle: Delivery, alone: Delivery): Row => ({
  metric,
  unit: 'ms',
  troupe: idle.gap(99),
  baseline: alone.gap(99),
  ratio: ratioOf([idle.gap(99)], [alone.gap(99)]),
  p50: idle.gap(50),
  p99: idle.gap(99),
});

const memoryRow = (metric: string, kib: number, target?: string): Row => ({
  metric,
  unit: 'KiB',
  troupe: kib,
  ...(target !== undefined && { target }),
});

export const idle: Benchmark = {
  name: 'idle',
  title:
    'idle: paced streams beside idle ones (p50 and p99: ms between two tokens), memory of an idle stream',
  async run(context) {
    const wanted = context.short ? 100 : 10_000;
    const limit = fileLimit() ?? 0;
    if (limit < wanted + SPARE_FILES) {
      context.note(
        `skipped: a process may open ${limit} files, ${wanted + SPARE_FILES} are needed (ulimit -Hn)`,
      );
      return [];
    }
    const server = await startTroupe(context, 'process', { nodeArguments: COLLECTS_ON_SIGNAL });
    const clients = startProgram('idle-clients', [server.url]);
    const ask = (wish: Wish): Promise<unknown> => clients.ask(wish);

    await runLoad({
      url: server.url,
      connections: 16,
      streams: context.short ? 100 : 5000,
      body: runOf('bench'),
    });
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
    return [
      paceRow(`between tokens, beside ${wanted} idle streams`, beside, alone),
      paceRow('the same, and one that never reads', besideFlood, alone),
      memoryRow('resident memory an idle stream', (now.asItIs - before.asItIs) / wanted, 'at most 16 KiB'),
      memoryRow('the same, after a collection', (now.collected - before.collected) / wanted),
    ];
  },
};
