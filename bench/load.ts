import { type LoadOptions, type LoadReport, runLoad } from '../src/load-generator/index.ts';
import { BenchError } from './error.ts';
import type { Round } from './row.ts';
import type { Server } from './servers.ts';
import { usageFrom } from './usage.ts';

/** A load on a measured server, and the resources that the server used. */

export type Played = {
  report: LoadReport;
  /** Streams per second. */
  rate: number;
  /** Milliseconds of CPU time of the server per stream, all threads; independent of other load on the host. */
  cost: number;
  /** Share of its core used by the server; 1 means that neither the load generator nor another process limited it. */
  share: number;
  /** Share of the requested CPU time that the server received, for loads that do not saturate the core. */
  granted: number;
  p50: number;
  p99: number;
};

export type Load = Omit<LoadOptions, 'url'> & { path?: string };

/**
 * Interval at which the load generator reads its connections: a wake-up per frame costs more than the frame, also for
 * the server, and would make the load generator the bottleneck.
 */
const REST_MS = 1;

/** A load that was too short to start a stream is repeated with a longer duration, up to this. */
const ENOUGH_MS = 10_000;

/** @throws BenchError when a stream fails, because no figure counts then */
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

/** A round that compares CPU time per stream, with a core for each of the two. */
export const besideRound = (mine: Played, theirs: Played, baseline: string): Round => ({
  value: mine.cost,
  baseline: theirs.cost,
  rates: [mine.rate, theirs.rate],
  shares: { Troupe: mine.share, [baseline]: theirs.share },
  p50: mine.p50,
  p99: mine.p99,
});
