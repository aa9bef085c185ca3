import { type Quantiles, runLoad, runOf } from '../src/load/index.ts';
import type { Benchmark, Row } from './result.ts';
import { interleaved, median, ratioOf } from './rounds.ts';
import { framesOf, type Server, startAi, startBare, startTroupe } from './servers.ts';
import { processorSeconds } from './usage.ts';

/**
 * Streams a second, 64 connections, 200 tokens each, durable runs on Troupe.
 * Beside it: a bare loop that writes the same frames and stores nothing, and `streamText` on node:http.
 */

const TOKENS = 200;

const FORMS = {
  burst: { agent: 'bench', bare: 'at least 2', ai: 'at least 15', power: 'at least 2' },
  turns: { agent: 'bench-turns', bare: 'at least 0.8', ai: '', power: '' },
} as const;

type Form = keyof typeof FORMS;

const AI_FRAMES = { first: '"text-delta"', terminal: 'data: [DONE]' };

type Load = { duration_ms: number; connections: number };

type Plan = { rounds: number; load: Load };

const SHORT: Plan = { rounds: 1, load: { duration_ms: 200, connections: 8 } };
const WARM_UP: Plan = { rounds: 1, load: { duration_ms: 1500, connections: 64 } };
const FULL: Plan = { rounds: 3, load: { duration_ms: 4000, connections: 64 } };

type Round = {
  rate: number;
  latency: Quantiles;
  /** Of a core, used by the server; 1 means that nothing else held it back. */
  share: number;
  /** Milliseconds of processor time of the server, all threads: stays what it is on a busy machine. */
  cost: number;
};

const play = async (load: Load, server: Server, path: string, options: object): Promise<Round> => {
  const processorBefore = processorSeconds(server.process.pid) ?? Number.NaN;
  const url = server.url + path;
  const report = await runLoad({ url, ...load, ...options });
  const failures = Object.entries(report.errors);
  if (failures.length > 0) throw new Error(`${url}: ${failures.map((entry) => entry.join(': ')).join(', ')}`);
  const processor = (processorSeconds(server.process.pid) ?? Number.NaN) - processorBefore;
  return {
    rate: report.streams_per_second,
    latency: report.latency_ms,
    share: processor / report.seconds,
    cost: (processor * 1000) / report.streams,
  };
};

type Servers = { process: Server; power: Server; bare: Server; ai: Server };

type Figures = { rows: Row[]; note: string };

const measure = async ({ rounds: count, load }: Plan, form: Form, servers: Servers): Promise<Figures> => {
  const { agent, ...targets } = FORMS[form];
  const body = runOf(agent);
  const rounds = await interleaved(count, {
    process: () => play(load, servers.process, '', { body }),
    bare: () => play(load, servers.bare, `/${form}`, { body }),
    power: () => play(load, servers.power, '', { body }),
    ai: () => play(load, servers.ai, `/${form}`, { body, ...AI_FRAMES }),
  });
  const rates = (of: keyof typeof rounds): number[] => rounds[of].map(({ rate }) => rate);
  const row = (
    mine: 'process' | 'power',
    theirs: keyof typeof rounds,
    name: string,
    target: string,
  ): Row => ({
    metric: `${form}, ${mine}, over ${name}`,
    unit: 'streams/s',
    troupe: median(rates(mine)),
    baseline: median(rates(theirs)),
    ratio: ratioOf(rates(mine), rates(theirs)),
    p50: median(rounds[mine].map(({ latency }) => latency.p50)),
    p99: median(rounds[mine].map(({ latency }) => latency.p99)),
    target,
  });
  const costs = Object.entries(rounds).map(([name, all]) => {
    const [cost, share] = [median(all.map((round) => round.cost)), median(all.map((round) => round.share))];
    return `${name} ${cost.toFixed(2)} ms (${Math.round(share * 100)} %)`;
  });
  const rows = [
    row('process', 'bare', 'bare loop', targets.bare),
    row('power', 'bare', 'bare loop', targets.power),
    row('process', 'ai', 'ai 6', targets.ai),
    row('power', 'ai', 'ai 6', targets.ai),
  ];
  return {
    rows,
    note: `${form}: processor time a stream, and share of its core that the server got: ${costs.join(', ')}`,
  };
};

export const streams: Benchmark = {
  name: 'streams',
  title: `streams: ${TOKENS} tokens each, 64 connections; p50 and p99 are ms for a whole stream`,
  async run(context) {
    const first = await startTroupe(context, 'process');
    const frames = await framesOf(first.url, runOf('bench')(0));
    const servers: Servers = {
      process: first,
      power: await startTroupe(context, 'power'),
      bare: await startBare(context, frames),
      ai: await startAi(TOKENS),
    };
    context.note(
      `one stream is ${frames.length} frames, ${(frames.join('').length / 1024).toFixed(1)} KiB; ` +
        'the bare loop writes the same bytes; ai 6 writes its own frames for the same tokens',
    );
    try {
      const forms = ['burst', 'turns'] as const;
      if (!context.short) for (const form of forms) await measure(WARM_UP, form, servers);
      const rows: Row[] = [];
      for (const form of forms) {
        const figures = await measure(context.short ? SHORT : FULL, form, servers);
        rows.push(...figures.rows);
        context.note(figures.note);
      }
      const { load } = context.short ? SHORT : WARM_UP;
      const { rate } = await play(load, servers.bare, '/corked', {
        body: runOf('bench'),
      });
      context.note(`a bare loop that joins all frames of a stream (cork): ${Math.round(rate)} streams/s`);
      return rows;
    } finally {
      await Promise.all(Object.values(servers).map((server) => server.process.stop()));
    }
  },
};
