import { type LoadOptions, type LoadReport, runLoad } from '../src/load/index.ts';
import { BenchError } from './error.ts';
import type { Round } from './row.ts';
import type { Server } from './servers.ts';
import { usageFrom } from './usage.ts';

/** A load on a server under measurement, and what the server used for it. */

export type Played = {
  report: LoadReport;
  /** Streams a second. */
  rate: number;
  /** Milliseconds of processor time of the server a stream, all threads: stays what it is on a busy machine. */
  cost: number;
  /** Of its core, used by the server; 1 means that neither the load nor anything else held it back. */
  share: number;
  /** Of what it wanted of its core: for a load that is not meant to fill it. */
  granted: number;
  p50: number;
  p99: number;
};

export type Load = Omit<LoadOptions, 'url'> & { path?: string };

/**
 * The load looks at its connections so often: a wake-up for each frame costs more than the frame, the server too,
 * and would make the load the limit.
 */
const REST_MS = 1;

/** A load that was too short to begin a single stream is played again with more time, up to this. */
const ENOUGH_MS = 10_000;

/** @throws BenchError when a stream fails: then nothing that was measured counts */
export const playLoad = async (server: Server, { path = '', ...load }: Load): Promise<Played> => {
  const url = server.url + path;
  const used = usageFrom(server.process.pid);
  const report = await runLoad({ rest_ms: REST_MS, ...load, url });
  const { processor, share, granted } = used();
  const { duration_ms = ENOUGH_MS } = load;
  if (isIdle(report) && duration_ms < ENOUGH_MS) {
    return playLoad(server, { path, ...load, duration_ms: 4 * duration_ms });
  }
  assertClean(server, url, report);
  const { p50, p99 } = report.latency_ms;
  const { streams, streams_per_second: rate } = report;
  return { report, rate, cost: processor / streams, share, granted, p50, p99 };
};

const isIdle = ({ errors, streams }: LoadReport): boolean =>
  streams === 0 && Object.keys(errors).length === 0;

const assertClean = (server: Server, url: string, { errors, streams }: LoadReport): void => {
  const failures = Object.entries(errors).map(([kind, count]) => `${kind} (${count} times)`);
  if (failures.length > 0) throw new BenchError(`${server.name} failed at ${url}: ${failures.join(', ')}`);
  if (streams === 0) throw new BenchError(`${server.name} ended no stream at ${url}`);
};

/** Processor time a stream of one beside that of another, each with a core for itself. */
export const besideRound = (mine: Played, theirs: Played, baseline: string): Round => ({
  value: mine.cost,
  baseline: theirs.cost,
  rates: [mine.rate, theirs.rate],
  shares: { Troupe: mine.share, [baseline]: theirs.share },
  p50: mine.p50,
  p99: mine.p99,
});
