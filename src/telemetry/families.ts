import { Counter, Histogram, type Registry } from 'prom-client';

/**
 * Families of metrics that are cheap to feed. prom-client builds and hashes a string of all labels at each
 * increment (0.2 µs). Here the values of the labels lead through nested maps to a cell (0.02 µs), and the cell
 * does the counting; a counter takes the numbers out of its cells when the registry is asked for its text.
 * Histograms are prom-client's own, and a cell keeps the one that belongs to its labels (0.3 µs an observation).
 *
 * A series appears with its first observation and stays: the values of labels must come from a closed set.
 */
type LabelValue = string | number;

/** At most three. */
export type LabelNames =
  | readonly []
  | readonly [string]
  | readonly [string, string]
  | readonly [string, string, string];

/** One value a label, in the order of the names. */
type Values<N extends LabelNames> = { readonly [I in keyof N]: LabelValue };

type Named = { name: string; help: string };

/** One series: its labels and what has been counted. */
type Cell = { labels: Record<string, LabelValue>; count: number };

const child = <K, V>(parent: Map<K, V>, key: K, make: () => V): V => {
  const known = parent.get(key);
  if (known !== undefined) return known;
  const made = make();
  parent.set(key, made);
  return made;
};

/** The cells of a family. A family with fewer than three labels leaves the last values out. */
const createCells = <C extends Cell>(names: LabelNames, make: (labels: Cell['labels']) => C) => {
  const root = new Map<LabelValue, Map<LabelValue, Map<LabelValue, C>>>();
  const all: C[] = [];
  const add = (...values: readonly LabelValue[]): C => {
    const cell = make(Object.fromEntries(names.map((name, i) => [name, values[i] ?? ''])));
    all.push(cell);
    return cell;
  };
  const find = (first: LabelValue = '', second: LabelValue = '', third: LabelValue = ''): C => {
    const seconds = child(root, first, () => new Map());
    const thirds = child(seconds, second, () => new Map());
    return child(thirds, third, () => add(first, second, third));
  };
  return { all, find };
};

const registerCounter = (registry: Registry, names: LabelNames, named: Named, cells: readonly Cell[]) =>
  new Counter({
    ...named,
    labelNames: names,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, count } of cells) this.inc(labels, count);
    },
  });

export const createCounter = <const N extends LabelNames>(registry: Registry, labels: N, counter: Named) => {
  const cells = createCells(labels, (values): Cell => ({ labels: values, count: 0 }));
  registerCounter(registry, labels, counter, cells.all);
  return {
    add(amount: number, ...values: Values<N>) {
      cells.find(...values).count += amount;
    },
  };
};

/** Durations in seconds, and, where it has a name, the number of them as a counter with the same labels. */
export const createDurations = <const N extends LabelNames>(
  registry: Registry,
  labels: N,
  duration: Named & { bounds: readonly number[] },
  counter?: Named,
) => {
  const { bounds, ...named } = duration;
  const histogram = new Histogram({
    ...named,
    labelNames: labels,
    buckets: [...bounds],
    registers: [registry],
  });
  // Without labels prom-client starts with a series of zeros.
  histogram.reset();
  const cells = createCells(labels, (values) => ({
    labels: values,
    count: 0,
    histogram: histogram.labels(values),
  }));
  if (counter) registerCounter(registry, labels, counter, cells.all);
  return {
    observe(seconds: number, ...values: Values<N>) {
      const cell = cells.find(...values);
      cell.count += 1;
      // A clock may step back and a time may be missing; neither may fail the run that is being measured.
      cell.histogram.observe(Math.max(0, seconds || 0));
    },
    /** Counts one that has no duration. */
    count(...values: Values<N>) {
      cells.find(...values).count += 1;
    },
  };
};
