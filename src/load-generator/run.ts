import { connect } from 'node:net';
import { type Connection, createConnection, type Ended, resolveTarget, type Taken } from './connection.ts';
import { createDistribution } from './distribution.ts';
import { LoadError } from './error.ts';
import { closedFeed, openFeed } from './feed.ts';
import { type Load, type LoadOptions, parseLoad } from './options.ts';
import type { LoadReport } from './report.ts';

/**
 * Runs a load on any server that answers a request with a stream of events.
 *
 * Guarantees: it ends automatically: at its time or count limit it starts no more streams, and a running stream has
 * `stream_timeout_ms` to end. Every stream is read to its end and counted only if its last frame is the terminal one.
 * If every connection is rejected and no stream has ended, no more streams are started. Rates are relative to the time
 * from the first request to the last end.
 * Costs one timer for all connections, two in open-loop mode, and two histogram entries per stream.
 */

/** Error messages may differ in every response; beyond this many, errors are counted by their status. */
const MOST_KINDS = 20;

/** A retry cannot succeed, unlike with 429. */
const REFUSED = /^status 4(?!29)/;

const SWEEP_MS = 250;
/** Maximum delay of the start of an open-loop stream, while the load generator keeps up. */
const FEED_MS = 1;
const CONNECT_TIMEOUT_MS = 5000;

/** @throws LoadError for an invalid option, or if there is no server at the address */
export const runLoad = async (options: LoadOptions): Promise<LoadReport> => {
  const load = parseLoad(options);
  await reach(load);
  return play(load);
};

const reach = (load: Load): Promise<void> =>
  new Promise((resolve, reject) => {
    const { host, port } = resolveTarget(load);
    const socket = connect({ host, port });
    const refuse = (reason: string): void => {
      socket.destroy();
      reject(new LoadError(`no server at ${load.url}: ${reason}`));
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => refuse(`no answer in ${CONNECT_TIMEOUT_MS} ms`));
    socket.on('error', (error: NodeJS.ErrnoException) => refuse(error.code ?? error.message));
    socket.on('connect', () => {
      socket.destroy();
      resolve();
    });
  });

type Tally = ReturnType<typeof createTally>;

const createTally = (load: Load) => {
  const ttft = createDistribution();
  const latency = createDistribution();
  const errors = new Map<string, number>();
  let streams = 0;
  let events = 0;
  let bytes = 0;
  let refusals = 0;
  return {
    bytes: (count: number) => {
      bytes += count;
    },
    failed: (kind: string) => {
      const known = errors.has(kind) || errors.size < MOST_KINDS ? kind : kind.replace(/:.*/, '');
      errors.set(known, (errors.get(known) ?? 0) + 1);
      if (REFUSED.test(kind)) refusals += 1;
    },
    /** True if all streams were rejected, at least one per connection. */
    futile: () => streams === 0 && refusals >= load.connections,
    ended: ({ stream, started, first, ended, events: count }: Ended) => {
      streams += 1;
      events += count;
      const latency_ms = ended - started;
      const ttft_ms = first === undefined ? undefined : first - started;
      latency.record(latency_ms);
      if (ttft_ms !== undefined) ttft.record(ttft_ms);
      load.onSample?.({ stream, ttft_ms, latency_ms, events: count });
    },
    report: (seconds: number): LoadReport => ({
      url: load.url,
      connections: load.connections,
      seconds,
      streams,
      events,
      bytes,
      streams_per_second: streams / seconds,
      events_per_second: events / seconds,
      bytes_per_second: bytes / seconds,
      ttft_ms: ttft.quantiles(),
      latency_ms: latency.quantiles(),
      latency_buckets: latency.buckets(),
      errors: Object.fromEntries(errors),
    }),
  };
};

const play = (load: Load): Promise<LoadReport> =>
  new Promise((resolve) => {
    const began = performance.now();
    const tally: Tally = createTally(load);
    const deadline = began + (load.duration_ms ?? Number.POSITIVE_INFINITY);
    const limit = load.streams ?? Number.POSITIVE_INFINITY;
    let started = 0;
    let open = load.connections;
    const over = (): boolean => started >= limit || performance.now() >= deadline || tally.futile();
    const rate = load.arrivals_per_second;
    const feed = rate === undefined ? closedFeed(over) : openFeed(rate, limit, over);

    const owner = {
      ...tally,
      take: (connection: Connection): Taken | 'later' | undefined => {
        const taken = feed.take(connection);
        if (typeof taken === 'object') started += 1;
        return taken;
      },
      finished: (): void => {
        open -= 1;
        if (open > 0) return;
        clearInterval(sweep);
        clearInterval(feeding);
        stopResting();
        resolve(tally.report((performance.now() - began) / 1000));
      },
    };

    const target = resolveTarget(load);
    const waiting = Array.from({ length: load.connections }, () => createConnection(load, target, owner));
    const opened: Connection[] = [];
    const advance = (): void => {
      const share = load.ramp_ms === 0 || over() ? 1 : (performance.now() - began) / load.ramp_ms;
      const due = Math.min(load.connections, Math.ceil(share * load.connections));
      while (opened.length < due) {
        const connection = waiting[opened.length];
        if (!connection) break;
        opened.push(connection);
        connection.open();
      }
      if (opened.length < load.connections) setTimeout(advance, 1);
    };
    const sweep = setInterval(() => {
      const now = performance.now();
      for (const connection of opened) connection.expire(now);
    }, SWEEP_MS);
    const feeding = feed.advance && setInterval(() => feed.advance?.(performance.now()), FEED_MS);
    const stopResting = load.rest_ms > 0 ? restBetweenTurns(load.rest_ms) : () => {};
    advance();
  });

/**
 * Processes all data that has arrived per wake-up instead of each frame: a wake-up costs more than reading a frame, and
 * also costs the server, which has to wake this process with every write.
 */
const restBetweenTurns = (ms: number): (() => void) => {
  const never = new Int32Array(new SharedArrayBuffer(4));
  let stopped = false;
  const rest = (): void => {
    if (stopped) return;
    Atomics.wait(never, 0, 0, ms);
    setImmediate(rest);
  };
  rest();
  return () => {
    stopped = true;
  };
};
