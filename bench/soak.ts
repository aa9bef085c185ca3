import { agentsModule } from './agents.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { COLLECT, COLLECTS } from './collect.ts';
import { BenchError } from './error.ts';
import { type Allowance, measureGrowth } from './growing.ts';
import { type Metrics, readMetrics } from './metrics.ts';
import { type Server, startTroupe } from './servers.ts';
import { comeToRest, work } from './soak-work.ts';
import { anonymousKiB } from './usage.ts';

/**
 * Hours of load, or two minutes in the short form: runs in all protocols, tools, disconnecting clients, and agents with
 * their own models that are created and deleted. Periodically the load pauses, all threads are deleted, garbage is
 * collected, and the remaining resources of the service are read and printed at once, so an interrupted soak has
 * reported its readings. The soak fails if a figure grows without bound (`growing.ts`). Runs leave records behind,
 * threads do not; so rows are compared with the number of runs, and tables of work in progress must not grow at all.
 */

const MINUTES_2 = 120_000;
const READINGS = 24;
const MIB = 2 ** 20;

/** Minimum share of the time between two readings. */
const LEAST_WORK = 0.5;

/** Time for the garbage collection to finish. */
const COLLECTION_MS = 300;

/** Tables in which finished work leaves rows, permanently or until they are swept by age. */
const KEPT = new Set([
  'runs',
  'run_index',
  'task_index',
  'counters',
  'dispatches',
  'dispatch_index',
  'ended_work',
  'events',
  'event_by_run',
  'runtime_stats',
  'publications',
  'resource_versions',
  'audit',
  'audit_index',
]);

type Read = { hours: number; runs: number; metrics: Metrics; anonymous: number };

type Figure = { unit: string; of(read: Read): number; allowance: Allowance };

const rowsOf = ({ rows }: Metrics, kept: boolean): number => {
  let sum = 0;
  for (const [table, count] of rows) if (KEPT.has(table) === kept) sum += count;
  return sum;
};

const FIGURES: Record<string, Figure> = {
  'heap after a collection': {
    unit: 'MiB',
    of: ({ metrics }) => metrics.value('nodejs_heap_size_used_bytes') / MIB,
    allowance: { share: 0.1, least: 4 },
  },
  'memory outside of the heap': {
    unit: 'MiB',
    of: ({ metrics }) => metrics.value('nodejs_external_memory_bytes') / MIB,
    allowance: { share: 0.1, least: 4 },
  },
  'resident memory without files': {
    unit: 'MiB',
    of: ({ anonymous }) => anonymous / 1024,
    allowance: { share: 0.2, least: 32 },
  },
  'open files': {
    unit: 'files',
    of: ({ metrics }) => metrics.value('process_open_fds'),
    allowance: { share: 0, least: 8 },
  },
  'rows of work in progress': {
    unit: 'rows',
    of: ({ metrics }) => rowsOf(metrics, false),
    allowance: { share: 0, least: 8 },
  },
  'rows of finished work': {
    unit: 'rows per run',
    of: ({ metrics, runs }) => rowsOf(metrics, true) / runs,
    allowance: { share: 0.05, least: 0.05 },
  },
};

const lineOf = (read: Read): string =>
  [
    `${Math.round(read.hours * 60)} min, ${read.runs} runs`,
    ...Object.entries(FIGURES).map(([name, { unit, of }]) => `${name}: ${of(read).toFixed(2)} ${unit}`),
  ].join('; ');

const collectReads = async (context: Context, server: Server): Promise<Read[]> => {
  const readings = context.short ? 3 : READINGS;
  const sliceMs = Math.ceil(context.roundMs(MINUTES_2) / readings);
  const began = performance.now();
  const reads: Read[] = [];
  for (let runs = 0; reads.length < readings; ) {
    // The preceding pause is part of the time: an hour is an hour, however long the deletion of threads takes.
    const untilNext = began + sliceMs * (reads.length + 1) - performance.now();
    runs += await work(server, Math.ceil(Math.max(untilNext, sliceMs * LEAST_WORK)));
    await comeToRest(server);
    server.process.signal(COLLECT);
    await new Promise((resolve) => setTimeout(resolve, COLLECTION_MS));
    const read: Read = {
      hours: (performance.now() - began) / 3_600_000,
      runs,
      metrics: await readMetrics(server),
      anonymous: anonymousKiB(server.process.pid),
    };
    reads.push(read);
    context.report(`${reads.length} of ${readings}, ${lineOf(read)}`);
  }
  return reads;
};

export const soak: Benchmark = {
  name: 'soak',
  title:
    'soak: resources of the service after 2 minutes of work (--duration 3600: an hour); fails if they grow',
  rounds: 1,
  async run(context) {
    const flags = ['--config', agentsModule(context, { rounds: 2 })];
    const server = await startTroupe(context, { nodeArguments: COLLECTS, flags });
    try {
      const reads = await collectReads(context, server);
      const found = Object.entries(FIGURES).map(([name, { unit, of, allowance }]) => ({
        name,
        unit,
        ...measureGrowth(
          reads.map((read) => ({ hours: read.hours, value: of(read) })),
          allowance,
        ),
      }));
      const text = found.map(
        ({ name, unit, from, to, perHour }) =>
          `${name}: ${from.toFixed(2)} to ${to.toFixed(2)} ${unit}, ${perHour.toFixed(2)} per hour`,
      );
      const growing = found.filter(({ grows }) => grows).map(({ name }) => name);
      if (growing.length > 0) {
        throw new BenchError(`soak: grows without bound: ${growing.join(', ')}\n  ${text.join('\n  ')}`);
      }
      context.note(`${reads.at(-1)?.runs} runs`);
      for (const line of text) context.note(line);
      return found.map(({ name, unit, to }) => ({ metric: name, unit, rounds: [{ value: to }] }));
    } finally {
      await server.process.stop();
    }
  },
};
