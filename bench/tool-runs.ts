import { createRunBody } from '../src/load-generator/index.ts';
import { agentsModule } from './agents.ts';
import type { Benchmark } from './benchmark.ts';
import { playLoad } from './load.ts';
import { durabilitiesOf, startTroupe } from './servers.ts';

/** Many clients whose runs call tools: three rounds of two tools each, durable, every step committed. */

const ROUNDS = 3;

export const toolRuns: Benchmark = {
  name: 'tools',
  title: `tools: runs of ${ROUNDS} rounds with two tools each, 64 connections; p50 and p99 are ms for a run`,
  async run(context) {
    const connections = context.short ? 2 : 64;
    const body = createRunBody('bench-rounds');
    const flags = ['--config', agentsModule(context, { rounds: ROUNDS })];
    const rows = [];
    for (const durability of durabilitiesOf(context)) {
      const server = await startTroupe(context, { durability, flags });
      if (!context.short) await playLoad(server, { connections, body, duration_ms: 2000 });
      const { cost, rate, share, p50, p99 } = await playLoad(server, {
        connections,
        body,
        duration_ms: context.roundMs(4000),
      });
      await server.process.stop();
      rows.push({
        metric: `a run of ${ROUNDS} rounds with two tools, ${durability}`,
        unit: 'ms of CPU',
        rounds: [{ value: cost, rates: [rate] as const, shares: { Troupe: share }, p50, p99 }],
      });
    }
    return rows;
  },
};
