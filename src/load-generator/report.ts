import type { Bucket, Quantiles } from './distribution.ts';

export type LoadReport = {
  url: string;
  connections: number;
  seconds: number;
  /** Streams that ended with the terminal frame. */
  streams: number;
  /** `data:` frames of those streams. */
  events: number;
  /** All received bytes, including heads and failed streams. */
  bytes: number;
  streams_per_second: number;
  events_per_second: number;
  bytes_per_second: number;
  /** From the request to the first delta, including accept. */
  ttft_ms: Quantiles;
  latency_ms: Quantiles;
  latency_buckets: Bucket[];
  /** Number of failed streams by failure. */
  errors: Record<string, number>;
};

const BAR = 40;

/** Formats a report for a terminal: rates, quantiles, the histogram of latencies, and failures. */
export const formatReport = (report: LoadReport): string =>
  [
    `${report.url}, ${report.connections} connections, ${report.seconds.toFixed(1)} s`,
    '',
    ...aligned(rates(report)),
    '',
    ...aligned([
      ['ms', 'p50', 'p90', 'p99', 'max'],
      ['first token', ...quantileCells(report.ttft_ms)],
      ['whole stream', ...quantileCells(report.latency_ms)],
    ]),
    '',
    ...histogram(report.latency_buckets),
    ...failures(report.errors),
    '',
  ].join('\n');

const rates = (report: LoadReport): string[][] => [
  ['', 'total', 'per second'],
  ['streams', whole(report.streams), whole(report.streams_per_second)],
  ['events', whole(report.events), whole(report.events_per_second)],
  ['MB', (report.bytes / 1e6).toFixed(1), (report.bytes_per_second / 1e6).toFixed(1)],
];

const quantileCells = ({ count, p50, p90, p99, max }: Quantiles): string[] =>
  [p50, p90, p99, max].map((value) => (count === 0 ? '-' : milliseconds(value)));

const histogram = (buckets: readonly Bucket[]): string[] => {
  if (buckets.length === 0) return ['no stream ended'];
  const most = Math.max(...buckets.map(({ count }) => count));
  return aligned(
    buckets.map(({ from_ms, to_ms, count }) => [
      `${milliseconds(from_ms)} to ${milliseconds(to_ms)}`,
      whole(count),
      '#'.repeat(Math.ceil((count / most) * BAR)).padEnd(BAR),
    ]),
  );
};

const failures = (errors: Record<string, number>): string[] => {
  const rows = Object.entries(errors).map(([kind, count]) => [kind, whole(count)]);
  return rows.length === 0 ? ['', 'no errors'] : ['', 'errors', ...aligned(rows)];
};

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

const milliseconds = (value: number): string => (value >= 1000 ? whole(value) : value.toPrecision(3));

/** Left-aligns the first column and right-aligns the others. */
const aligned = (rows: readonly (readonly string[])[]): string[] => {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
};
