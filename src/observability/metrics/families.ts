import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Metric families with cheap updates. prom-client builds and hashes a string of all labels at each increment (0.2 µs).
 * Here the label values lead through nested maps to a cell (0.02 µs), and the cell counts; a counter reads its cells
 * when the registry renders its text. Histograms are those of prom-client, and a cell keeps the one for its labels (0.3
 * µs per observation).
 *
 * A series appears with its first observation. Label values must come from a closed set or from the configuration,
 * never from client input; but models and agents change over time, so a family has at most `MOST_SERIES` and drops the
 * one that has been idle for longest. If that series is used again, it starts at zero, which Prometheus treats like a
 * restart.
 */
type LabelValue = string | number;

/** At most three. */
export type LabelNames =
  | readonly []
  | readonly [string]
  | readonly [string, string]
  | readonly [string, string, string];

/** One value per label, in the order of the names. */
type Values<N extends LabelNames> = { readonly [I in keyof N]: LabelValue };

/** `suffix` is the name without the prefix of the service. */
type Named = { suffix: string; help: string };

/** A family as listed in the manual. */
export type Family = {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  labels: readonly string[];
  help: string;
};

/** The families of one service, in the order of their creation. */
export type Families = { registry: Registry; prefix: string; all: Family[] };

export const createFamilies = (prefix: string): Families => ({ registry: new Registry(), prefix, all: [] });

/** Returns the options that prom-client requires for every family. */
const declare = (
  { registry, prefix, all }: Families,
  type: Family['type'],
  labels: LabelNames,
  { suffix, help }: Named,
) => {
  const name = `${prefix}${suffix}`;
  all.push({ name, type, labels, help });
  return { name, help, labelNames: labels, registers: [registry] };
};

const MOST_SERIES = 1000;

/** One series: its labels, its count, and the sequence number of its last use. */
type Cell = { labels: Record<string, LabelValue>; count: number; used: number };

const child = <K, V>(parent: Map<K, V>, key: K, make: () => V): V => {
  const known = parent.get(key);
  if (known !== undefined) return known;
  const made = make();
  parent.set(key, made);
  return made;
};

/**
 * Creates the cells of a family. A family with fewer than three labels omits the last values.
 *
 * @param forgotten is called with each dropped cell
 */
const createCells = <C extends Cell>(
  names: LabelNames,
  make: (labels: Cell['labels']) => C,
  forgotten: (cell: C) => void = () => {},
) => {
  const root = new Map<LabelValue, Map<LabelValue, Map<LabelValue, C>>>();
  const all = new Set<C>();
  let uses = 0;
  const forgetIdle = (): void => {
    let idle: C | undefined;
    for (const cell of all) if (!idle || cell.used < idle.used) idle = cell;
    if (!idle) return;
    const [first = '', second = '', third = ''] = names.map((name) => idle.labels[name] ?? '');
    const seconds = root.get(first);
    const thirds = seconds?.get(second);
    thirds?.delete(third);
    if (thirds?.size === 0) seconds?.delete(second);
    if (seconds?.size === 0) root.delete(first);
    all.delete(idle);
    forgotten(idle);
  };
  const add = (first: LabelValue, second: LabelValue, third: LabelValue): C => {
    if (all.size >= MOST_SERIES) forgetIdle();
    const values = [first, second, third];
    const cell = make(Object.fromEntries(names.map((name, i) => [name, values[i] ?? ''])));
    all.add(cell);
    const seconds = child(root, first, () => new Map<LabelValue, Map<LabelValue, C>>());
    child(seconds, second, () => new Map<LabelValue, C>()).set(third, cell);
    return cell;
  };
  const find = (first: LabelValue = '', second: LabelValue = '', third: LabelValue = ''): C => {
    const cell = root.get(first)?.get(second)?.get(third) ?? add(first, second, third);
    uses += 1;
    cell.used = uses;
    return cell;
  };
  return { all, find };
};

const declareCounter = (families: Families, labels: LabelNames, named: Named, cells: Iterable<Cell>) =>
  new Counter({
    ...declare(families, 'counter', labels, named),
    collect() {
      this.reset();
      for (const { labels: values, count } of cells) this.inc(values, count);
    },
  });

export const createCounter = <const N extends LabelNames>(families: Families, labels: N, counter: Named) => {
  const cells = createCells(labels, (values): Cell => ({ labels: values, count: 0, used: 0 }));
  declareCounter(families, labels, counter, cells.all);
  return {
    add(amount: number, ...values: Values<N>) {
      cells.find(...values).count += amount;
    },
  };
};

/** A gauge that is incremented and decremented. */
export const createGauge = (families: Families, gauge: Named) =>
  new Gauge(declare(families, 'gauge', [], gauge));

/**
 * A gauge that is read when the text is rendered: one series per row, with its value first. Missing rows end their
 * series.
 */
export const createReading = <const N extends LabelNames>(
  families: Families,
  labels: N,
  reading: Named,
  read: () => Iterable<readonly [value: number, ...labels: Values<N>]>,
) => {
  new Gauge({
    ...declare(families, 'gauge', labels, reading),
    collect() {
      this.reset();
      // Without labels prom-client starts with a series of zero.
      if (labels.length === 0) this.remove();
      for (const [value, ...values] of read()) {
        this.set(Object.fromEntries(labels.map((name, i) => [name, values[i] ?? ''])), value);
      }
    },
  });
};

/** Durations in seconds and, if `counter` is given, their number as a counter with the same labels. */
export const createDurations = <const N extends LabelNames>(
  families: Families,
  labels: N,
  { bounds, ...duration }: Named & { bounds: readonly number[] },
  counter?: Named,
) => {
  const histogram = new Histogram({
    ...declare(families, 'histogram', labels, duration),
    buckets: [...bounds],
  });
  // Without labels prom-client starts with a series of zeros.
  histogram.reset();
  const cells = createCells(
    labels,
    (values) => ({ labels: values, count: 0, used: 0, histogram: histogram.labels(values) }),
    (cell) => histogram.remove(cell.labels),
  );
  if (counter) declareCounter(families, labels, counter, cells.all);
  return {
    observe(seconds: number, ...values: Values<N>) {
      const cell = cells.find(...values);
      cell.count += 1;
      // A clock may step back and a time may be missing; neither may fail the measured run.
      cell.histogram.observe(Math.max(0, seconds || 0));
    },
    /** Counts an occurrence without a duration. */
    count(...values: Values<N>) {
      cells.find(...values).count += 1;
    },
  };
};
