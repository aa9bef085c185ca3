/** The text format of Prometheus, as far as a screen shows it: gauges and counters, without the buckets of histograms. */

export type Series = {
  /** With its labels, as it is written. */
  name: string;
  kind: 'counter' | 'gauge';
  value: number;
};

const LINE = /^([a-zA-Z_:][\w:]*)(\{.*\})?\s+(\S+)/;

export const parseMetrics = (text: string): Series[] => {
  const kinds = new Map<string, string>();
  const series: Series[] = [];
  for (const line of text.split('\n')) {
    const [, named, kind] = /^# TYPE (\S+) (\S+)/.exec(line) ?? [];
    if (named !== undefined && kind !== undefined) kinds.set(named, kind);
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || line.startsWith('#')) continue;
    const known = kinds.get(name) ?? kinds.get(name.replace(/_(count|sum|total)$/, ''));
    const number = Number(value);
    if (name.endsWith('_bucket') || Number.isNaN(number)) continue;
    series.push({ name: `${name}${labels}`, kind: known === 'gauge' ? 'gauge' : 'counter', value: number });
  }
  return series;
};

/** What was seen of a series, the oldest first. */
export type Seen = { at: number; value: number };

const MOST_KEPT = 120;

export const withSample = (
  before: ReadonlyMap<string, readonly Seen[]>,
  series: readonly Series[],
  at: number,
): Map<string, readonly Seen[]> => {
  const after = new Map<string, readonly Seen[]>();
  for (const { name, value } of series) {
    after.set(name, [...(before.get(name) ?? []), { at, value }].slice(-MOST_KEPT));
  }
  return after;
};

/** Per second, over all that was seen; undefined where there is one sample or the counter began anew. */
export const rateOf = (seen: readonly Seen[]): number | undefined => {
  const [first, last] = [seen[0], seen.at(-1)];
  if (!first || !last || last.at <= first.at || last.value < first.value) return undefined;
  return ((last.value - first.value) * 1000) / (last.at - first.at);
};
