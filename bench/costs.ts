import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { createGcTrace, type GcTrace } from './gc-trace.ts';
import { type Played, playLoad } from './load.ts';
import type { Aim, Measured, Round } from './row.ts';
import { type Server, startTroupe } from './servers.ts';
import { peakResidentKiB, writtenBytes } from './usage.ts';

/**
 * Costs of a durable run of 200 tokens other than the CPU time of a busy server: bytes written to disk, bytes moved by
 * the garbage collector, memory, the rate of a server after its start, and a run on an otherwise idle server.
 */

const CONNECTIONS = 64;
const MIB = 2 ** 20;

/** Bytes moved by each collection of the young generation. */
type Scavenges = { copied: number[]; promoted: number[] };

const createScavenges = (): Scavenges & GcTrace => {
  const scavenges: Scavenges = { copied: [], promoted: [] };
  const trace = createGcTrace(({ kind, figure }) => {
    if (kind !== 's') return;
    scavenges.copied.push(figure('new_space_survived'));
    scavenges.promoted.push(figure('promoted'));
  });
  return { ...scavenges, ...trace };
};

const meanFrom = (values: readonly number[], from: number): number => {
  const counted = values.slice(from);
  return counted.reduce((sum, value) => sum + value, 0) / counted.length;
};

const row = (metric: string, unit: string, round: Round, aim?: Aim): Measured => ({
  metric,
  unit,
  ...(aim && { aim }),
  rounds: [round],
});

const atMost = (most: number): Aim => ({ of: 'value', most });

const burst = (server: Server, context: Context, duration_ms: number): Promise<Played> =>
  playLoad(server, {
    connections: context.short ? 2 : CONNECTIONS,
    duration_ms,
    body: createRunBody('bench'),
  });

const busy = async (context: Context): Promise<Measured[]> => {
  const scavenges = createScavenges();
  const server = await startTroupe(context, { nodeArguments: ['--trace-gc-nvp'], hear: scavenges.hear });
  const { pid } = server.process;
  const first = await burst(server, context, context.short ? 200 : 3000);
  if (!context.short) await burst(server, context, 3000);
  const [before, from] = [writtenBytes(pid), scavenges.copied.length];
  const steady = await burst(server, context, context.roundMs(6000));
  const written = writtenBytes(pid) - before;
  const peak = peakResidentKiB(pid);
  await server.process.stop();
  const [copied, promoted] = [scavenges.copied, scavenges.promoted].map((values) => meanFrom(values, from));
  const shares = { Troupe: steady.granted };
  return [
    row(
      'written to the disk a run, 64 at a time',
      'KB',
      { value: written / steady.report.streams / 1000 },
      atMost(40),
    ),
    row('copied by a scavenge, 64 at a time', 'MB', { value: (copied ?? 0) / 1e6 }, atMost(4)),
    row('promoted by a scavenge, 64 at a time', 'MB', { value: (promoted ?? 0) / 1e6 }, atMost(1)),
    row('peak resident memory, 64 at a time', 'MiB', { value: (peak * 1024) / MIB }, atMost(250)),
    {
      metric: 'runs of the first 3 s after a start',
      unit: 'runs/s',
      better: 'higher',
      baseline: 'the steady rate',
      aim: { of: 'ratio', least: 0.7 },
      rounds: [{ value: first.rate, baseline: steady.rate, shares }],
    },
  ];
};

const alone = async (context: Context): Promise<Measured> => {
  const server = await startTroupe(context);
  const load = { connections: 1, pause_ms: 2, body: createRunBody('bench') };
  await playLoad(server, { ...load, duration_ms: context.short ? 100 : 1500 });
  const { cost, granted, p50, p99 } = await playLoad(server, { ...load, duration_ms: context.roundMs(3000) });
  await server.process.stop();
  const round = { value: cost, p50, p99, shares: { Troupe: granted } };
  return row('a run on an idle server, one after the other', 'ms of CPU', round, atMost(1.2));
};

export const costs: Benchmark = {
  name: 'costs',
  title: 'costs: of a run of 200 tokens, in addition to the time of a busy server',
  run: async (context) => [...(await busy(context)), await alone(context)],
};
