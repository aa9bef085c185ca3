import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { type Load, playLoad } from './load.ts';
import type { Measured } from './row.ts';
import { type Server, settingsOf, startProgram, stopAll } from './servers.ts';
import { usageFrom } from './usage.ts';

/** CPU time of both members for a stream that a standby forwards, next to that of the active member for its own client. */

const CONNECTIONS = 64;
const MOST = 1.35;
const ACTIVE = 'id-active';

const startMembers = async (context: Context): Promise<{ active: Server; standby: Server }> => {
  const start = (name: string, id: string, peer?: object): Promise<Server> =>
    startProgram(context, name, 'member', [
      id,
      JSON.stringify(settingsOf(context, {})),
      ...(peer ? [JSON.stringify(peer)] : []),
    ]);
  const active = await start('active member', ACTIVE);
  const standby = await start('standby', 'id-standby', { id: ACTIVE, name: 'active', url: active.url });
  return { active, standby };
};

const measure = async (active: Server, standby: Server, load: Load): Promise<Measured> => {
  const direct = await playLoad(active, load);
  const used = usageFrom(active.process.pid);
  const forwarded = await playLoad(standby, load);
  const behind = used();
  return {
    metric: 'a stream, all at once, through a standby',
    unit: 'ms of CPU of both members',
    baseline: 'direct',
    aim: { of: 'ratio', most: MOST },
    rounds: [
      {
        value: forwarded.cost + behind.processor / forwarded.report.streams,
        baseline: direct.cost,
        rates: [forwarded.rate, direct.rate],
        shares: { 'both members': forwarded.share + behind.share, direct: direct.share },
        p50: forwarded.p50,
        p99: forwarded.p99,
      },
    ],
  };
};

export const forwarding: Benchmark = {
  name: 'forwarding',
  title: 'forwarding: streams of 200 tokens through a standby; p50 and p99 are ms for a whole stream',
  async run(context) {
    const { active, standby } = await startMembers(context);
    try {
      const body = createRunBody('bench');
      const load = { body, connections: context.short ? 2 : CONNECTIONS };
      if (!context.short) await measure(active, standby, { ...load, duration_ms: 2000 });
      return [await measure(active, standby, { ...load, duration_ms: context.roundMs(4000) })];
    } finally {
      await stopAll([active, standby]);
    }
  },
};
