import { setTimeout as pause } from 'node:timers/promises';
import type { Benchmark, Context } from './benchmark.ts';
import { freePort, untilHealthy } from './health.ts';
import { findNodes, HTTP_SERVER_NAMES, type HttpServer, type Node, type Nodes } from './nodes.ts';
import { interleaved, median, percentile } from './rounds.ts';
import type { Measured, Round } from './row.ts';
import { spawnTroupe } from './servers.ts';
import { threadsRan } from './usage.ts';

/**
 * CPU and wall-clock time from the start of the process until /health responds, with an empty folder, on each version
 * of Node with each HTTP server. CPU time counts: that of all threads, also while other processes use the cores.
 */

/** Starts of each variant in a round. The figure is the least of them: other work on the host only adds to it. */
const STARTS = { full: 5, short: 1 };

/** Milliseconds. */
const LIMITS = { oldest: 400, newer: 300 };

/** The oldest version of Node takes longer for the same work. */
const OLDEST_MAJOR = 20;

type Start = { cpu: number; wall: number };

type Variant = { name: string; node: Node; http: HttpServer };

let found: Nodes | undefined;

const variantsOf = ({ short, root, note }: Context): Variant[] => {
  found ??= findNodes(root, short);
  for (const text of found.missing) note(text);
  return found.nodes.flatMap((node) =>
    node.servers.map((http) => ({
      name: `${HTTP_SERVER_NAMES[http]} on Node ${node.major}`,
      node,
      http,
    })),
  );
};

/** Milliseconds from a start until its compiled code is stored. */
const STORED_MS = 8_000;

const start = async (context: Context, { node, http }: Variant, staysMs = 0): Promise<Start> => {
  const port = await freePort();
  const began = performance.now();
  const child = spawnTroupe(context, {
    durability: 'power',
    port,
    node: node.command,
    flags: ['--http-server', http],
    // Node reads these certificates before it runs a program, which takes as long as a tenth of a start.
    variables: { NODE_EXTRA_CA_CERTS: '' },
  });
  await untilHealthy(child, `http://127.0.0.1:${port}`);
  const took = { cpu: threadsRan(child.pid), wall: performance.now() - began };
  await pause(staysMs);
  await child.stop();
  return took;
};

const roundOf = (times: readonly number[]): Round => ({
  value: Math.min(...times),
  p50: median(times),
  p99: percentile(times, 99),
});

const rowsOf = ({ name, node }: Variant, starts: readonly Start[]): Measured[] => [
  {
    metric: `CPU until /health answers, ${name}`,
    unit: 'ms of CPU',
    aim: { of: 'value', most: node.major === OLDEST_MAJOR ? LIMITS.oldest : LIMITS.newer },
    rounds: [roundOf(starts.map(({ cpu }) => cpu))],
  },
  {
    metric: `start until /health answers, ${name}`,
    unit: 'ms',
    rounds: [roundOf(starts.map(({ wall }) => wall))],
  },
];

const measure = async (context: Context): Promise<Measured[]> => {
  const variants = variantsOf(context);
  // The first start of a build compiles code that the next ones read.
  if (!context.short) for (const variant of variants) await start(context, variant, STORED_MS);
  const starts = await interleaved(
    context.short ? STARTS.short : STARTS.full,
    Object.fromEntries(variants.map((variant) => [variant.name, () => start(context, variant)])),
  );
  return variants.flatMap((variant) => rowsOf(variant, starts[variant.name] ?? []));
};

export const starts: Benchmark = {
  name: 'starts',
  title:
    'starts: until /health answers, by version of Node and HTTP server; the least of a round, p50 its median, p99 its slowest',
  run: measure,
};
