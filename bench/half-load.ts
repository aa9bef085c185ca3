import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import { playLoad } from './load.ts';
import type { Measured, Round } from './row.ts';
import { type Durability, durabilitiesOf, type Server, startTroupe } from './servers.ts';

/**
 * Latencies on a server at half load: durable runs of 200 tokens arrive randomly and independently, at half the rate
 * that the server can complete. A few concurrent streams of 50 tokens a second show how even the pace of other streams
 * is. The maximum rate is measured first, with connections that never pause.
 */

const CLOSED_CONNECTIONS = 64;

/** More than half load ever needs, so an arriving stream finds a free connection. */
const OPEN_CONNECTIONS = 512;

const PACED_STREAMS = 8;
const PACE_MS = 20;
const PACED_TOKENS = 200;

const pacedBeside = async (server: Server, duration_ms: number): Promise<Delivery> => {
  const delivery = createDelivery({
    pace_ms: PACE_MS,
    tokens: PACED_TOKENS,
    leading: 2,
    from: performance.now(),
    until: performance.now() + duration_ms,
  });
  await playLoad(server, {
    connections: PACED_STREAMS,
    streams: PACED_STREAMS,
    rest_ms: 0,
    body: createRunBody('bench-paced'),
    onEvents: delivery.onEvents,
    onSample: delivery.onSample,
  });
  return delivery;
};

const measure = async (context: Context, durability: Durability): Promise<Measured[]> => {
  const server = await startTroupe(context, { durability });
  const body = createRunBody('bench');
  const connections = context.short ? 2 : CLOSED_CONNECTIONS;
  // Paced streams last four seconds, and the load lasts longer than all of them.
  const duration_ms = context.roundMs(5000);
  try {
    if (!context.short) await playLoad(server, { body, connections, duration_ms: 2000 });
    const full = await playLoad(server, { body, connections, duration_ms: context.roundMs(3000) });
    const [half, paced] = await Promise.all([
      playLoad(server, {
        body,
        connections: OPEN_CONNECTIONS,
        ...(context.short ? { streams: 3 } : { duration_ms }),
        arrivals_per_second: full.rate / 2,
        rest_ms: 0,
      }),
      pacedBeside(server, duration_ms),
    ]);
    context.note(
      `${durability}: ${Math.round(full.rate)} streams/s at most; at ${Math.round(half.rate)} a second the server ` +
        `used ${Math.round(half.share * 100)} % of its core`,
    );
    // The rows do not count if the server could not reach its maximum.
    const shares = { 'Troupe at full load': full.share, 'Troupe at half load': half.granted };
    const row = (metric: string, figures: { p50: number; p99: number }): Measured => {
      const round: Round = { value: figures.p99, p50: figures.p50, p99: figures.p99, shares };
      return { metric: `p99 of ${metric}, half load, ${durability}`, unit: 'ms', rounds: [round] };
    };
    return [
      row('the first token', half.report.ttft_ms),
      row('a whole stream of 200 tokens', half.report.latency_ms),
      row('the gap between tokens of 50 a second', { p50: paced.gap(50), p99: paced.gap(99) }),
    ];
  } finally {
    await server.process.stop();
  }
};

export const halfLoad: Benchmark = {
  name: 'half-load',
  title:
    'half-load: latencies at half of the maximum rate of the server, with random arrivals; p50 and p99 are ms',
  async run(context) {
    const rows: Measured[] = [];
    for (const durability of durabilitiesOf(context)) rows.push(...(await measure(context, durability)));
    return rows;
  },
};
