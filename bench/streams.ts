import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { measureHttpServers } from './http-servers.ts';
import { besideRound, type Load, type Played, playLoad } from './load.ts';
import type { Aim, Measured, Round } from './row.ts';
import { readFrames, type Server, startAi, startBare, startTroupe, stopAll } from './servers.ts';

/**
 * CPU time of the server per stream of 200 tokens, with 64 connections and durable runs on Troupe, and rates.
 * Baselines: a bare loop that writes the same frames one by one and stores nothing, the same loop corked, which is the
 * limit of the socket, and `streamText` on node:http. At the end, both HTTP servers on each version of Node.
 */

const TOKENS = 200;
const CONNECTIONS = 64;

const AI_FRAMES = { first: '"text-delta"', terminal: 'data: [DONE]' };

type Servers = { process: Server; power: Server; bare: Server; ai: Server };

type Variant = keyof Servers | 'corked';

const BASELINES = {
  bare: 'bare loop, frame by frame',
  ai: 'ai 6 on node:http',
  corked: 'bare loop, corked: the limit of the socket',
};

type Form = 'burst' | 'turns';

const FORMS = { burst: 'all at once', turns: 'one token a tick' };

/** The baseline and the aim of each form. */
const ROWS: readonly [Form, 'process' | 'power', keyof typeof BASELINES, Aim?][] = [
  ['burst', 'process', 'bare', { of: 'value', most: 0.6 }],
  ['burst', 'power', 'bare', { of: 'value', most: 0.6 }],
  ['burst', 'process', 'corked'],
  ['burst', 'process', 'ai', { of: 'ratio', most: 0.067 }],
  ['turns', 'process', 'bare', { of: 'ratio', most: 1.11 }],
  ['turns', 'power', 'bare'],
  ['turns', 'process', 'ai'],
];

const measure = async (servers: Servers, form: Form, load: Load): Promise<Record<Variant, Played>> => {
  const body = createRunBody(form === 'turns' ? 'bench-turns' : 'bench');
  return {
    process: await playLoad(servers.process, { ...load, body }),
    bare: await playLoad(servers.bare, { ...load, body, path: `/${form}` }),
    power: await playLoad(servers.power, { ...load, body }),
    ai: await playLoad(servers.ai, { ...load, body, ...AI_FRAMES, path: `/${form}` }),
    corked: await playLoad(servers.bare, { ...load, body, path: '/corked' }),
  };
};

/**
 * The corked loop writes once per stream at any rate, so its cost per stream does not depend on its share of the core;
 * and its rate is limited by the load generator, which reads all of it.
 */
const roundOf = (mine: Played, theirs: Played, baseline: keyof typeof BASELINES): Round => {
  const round = besideRound(mine, theirs, BASELINES[baseline]);
  return baseline === 'corked'
    ? { ...round, shares: { Troupe: mine.share, [BASELINES.corked]: theirs.granted } }
    : round;
};

const rowOf = (
  [form, mine, theirs, aim]: (typeof ROWS)[number],
  played: Record<Variant, Played>,
): Measured => ({
  metric: `a stream, ${FORMS[form]}, ${mine}`,
  unit: 'ms of CPU',
  baseline: BASELINES[theirs],
  ...(aim && { aim }),
  rounds: [roundOf(played[mine], played[theirs], theirs)],
});

const startAll = async (context: Context): Promise<Servers> => {
  const first = await startTroupe(context);
  const frames = await readFrames(first, createRunBody('bench')(0));
  context.note(
    `one stream is ${frames.length} frames, ${(frames.join('').length / 1024).toFixed(1)} KiB; ` +
      'the bare loop writes the same bytes; ai 6 writes its own frames for the same tokens',
  );
  return {
    process: first,
    power: await startTroupe(context, { durability: 'power' }),
    bare: await startBare(context, frames),
    ai: await startAi(context, TOKENS),
  };
};

export const streams: Benchmark = {
  name: 'streams',
  title: `streams: ${TOKENS} tokens each, ${CONNECTIONS} connections; p50 and p99 are ms for a whole stream`,
  async run(context) {
    const servers = await startAll(context);
    const connections = context.short ? 2 : CONNECTIONS;
    const warmUp = { duration_ms: 2000, connections };
    const load = { duration_ms: context.roundMs(4000), connections };
    const rows: Measured[] = [];
    try {
      const forms = ['burst', 'turns'] as const;
      if (!context.short) for (const form of forms) await measure(servers, form, warmUp);
      const burst = await measure(servers, 'burst', load);
      const turns = await measure(servers, 'turns', load);
      rows.push(...ROWS.map((row) => rowOf(row, { burst, turns }[row[0]])));
    } finally {
      await stopAll(Object.values(servers));
    }
    return [...rows, ...(await measureHttpServers(context, load))];
  },
};
