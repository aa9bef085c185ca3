/** Parses the text format of Prometheus. */

export type Series = { metric: string; labels: Readonly<Record<string, string>>; value: number };

const LINE = /^([a-zA-Z_:][\w:]*)(\{.*\})?\s+(\S+)/;

const labelsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/[{,](\w+)="([^"]*)"/g)].map(([, name, value]) => [name ?? '', value ?? '']),
  );

export const parseMetrics = (text: string): Series[] =>
  text.split('\n').flatMap((line) => {
    const [, metric, labels = '', value] = LINE.exec(line) ?? [];
    const number = Number(value);
    if (metric === undefined || Number.isNaN(number)) return [];
    return { metric, labels: labelsIn(labels), value: number };
  });

export type Reading = { at: number; series: readonly Series[] };

/** The rate per second; undefined after a reset of the counter. */
export const rateOf = (before: number, now: number, ms: number): number | undefined =>
  ms <= 0 || now < before ? undefined : ((now - before) * 1000) / ms;

export const TILES = ['requests', 'runs', 'latency', 'loop', 'heap', 'store', 'streams', 'errors'] as const;
export type Tile = (typeof TILES)[number];
export type Figures = Readonly<Record<Tile, number | undefined>>;

type Matches = (series: Series) => boolean;

/** The metrics of the service have a configurable prefix. */
const named =
  (suffix: string): Matches =>
  ({ metric }) =>
    metric.endsWith(suffix);

const sum = (reading: Reading | undefined, matches: Matches): number | undefined => {
  const own = reading?.series.filter(matches) ?? [];
  return own.length === 0 ? undefined : own.reduce((total, { value }) => total + value, 0);
};

const rate = (now: Reading, before: Reading | undefined, matches: Matches): number | undefined =>
  before && rateOf(sum(before, matches) ?? 0, sum(now, matches) ?? 0, now.at - before.at);

/** The upper bound of the bucket that contains the percentile of what was observed between two readings. */
const percentile = (now: Reading, before: Reading, suffix: string, share: number): number | undefined => {
  const counts = new Map<number, number>();
  const add = (reading: Reading, sign: 1 | -1): void => {
    for (const { metric, labels, value } of reading.series) {
      if (!metric.endsWith(`${suffix}_bucket`)) continue;
      const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
      counts.set(bound, (counts.get(bound) ?? 0) + sign * value);
    }
  };
  add(now, 1);
  add(before, -1);
  const all = counts.get(Number.POSITIVE_INFINITY) ?? 0;
  if (all <= 0) return undefined;
  const bounds = [...counts].sort(([a], [b]) => a - b);
  const found = bounds.find(([, count]) => count >= share * all)?.[0];
  return found === Number.POSITIVE_INFINITY ? bounds.at(-2)?.[0] : found;
};

/** The timer that measures the delay of the event loop has this interval, which its values contain. */
const LOOP_TIMER_SECONDS = 0.02;

/** The figures of the tiles; rates are those since the previous reading. Durations are in seconds. */
export const figuresOf = (now: Reading, before: Reading | undefined): Figures => {
  const loop = sum(now, named('nodejs_eventloop_lag_p99_seconds'));
  return {
    requests: rate(now, before, named('_http_requests_total')),
    runs: sum(now, named('_active_runs')),
    latency: before && percentile(now, before, '_http_request_duration_seconds', 0.95),
    loop: loop === undefined ? undefined : Math.max(0, loop - LOOP_TIMER_SECONDS),
    heap: sum(now, named('nodejs_heap_size_used_bytes')),
    store: sum(now, named('_store_used_bytes')),
    streams: sum(now, named('_sse_connections')),
    errors: rate(
      now,
      before,
      (one) => named('_http_requests_total')(one) && (one.labels.status ?? '').startsWith('5'),
    ),
  };
};
