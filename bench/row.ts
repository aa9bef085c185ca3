import { type Interval, median } from './rounds.ts';

/**
 * Measurements of a benchmark, and the rows that they make.
 *
 * A row is a figure of Troupe, one per round, with a baseline measured in the same round. A ratio is of medians; its
 * range is that of the rounds, each with its own baseline, or of their confidence intervals. A row is marked and does not count if a server received less
 * than nine tenths of its core, or of the requested CPU time where the load is not meant to saturate the core: it is
 * neither compared with its aim nor with another build.
 */

export type Round = {
  value: number;
  baseline?: number;
  /** Confidence interval of the ratio, if the round has many pairs of figures. */
  interval?: Interval;
  /** Rates per second of Troupe and of its baseline, for a figure that is not a rate itself. */
  rates?: readonly [number, number?];
  /** Share of its core that each server received, by its name. */
  shares?: Record<string, number>;
  p50?: number;
  p99?: number;
};

/** Target for the figure, its ratio or its p99. */
export type Aim = { of: 'value' | 'ratio' | 'p99' } & ({ most: number } | { least: number });

export type Measured = {
  /** Identifies the row together with the name of the baseline. */
  metric: string;
  unit: string;
  /** Default: `lower`. */
  better?: 'lower' | 'higher';
  /** Name of the baseline. */
  baseline?: string;
  aim?: Aim;
  /** A benchmark measures one round at a time. */
  rounds: Round[];
};

export type Range = { median: number; min: number; max: number };

export type Row = {
  metric: string;
  unit: string;
  better: 'lower' | 'higher';
  value: Range;
  /** Figures of Troupe, one per round. */
  samples: number[];
  baseline?: { name: string; value: Range; samples: number[] };
  ratio?: Range;
  rates?: { troupe: number; baseline?: number };
  p50?: number;
  p99?: number;
  aim?: Aim;
  counted: boolean;
  /** The reason why the row does not count. */
  reason?: string;
};

const LEAST_SHARE = 0.9;

export const createRow = ({ metric, unit, better = 'lower', baseline, aim, rounds }: Measured): Row => {
  const samples = rounds.map(({ value }) => value);
  const beside = rounds.flatMap((round) => round.baseline ?? []);
  const rates = rounds.flatMap((round) => round.rates ?? []).length > 0 && ratesOf(rounds);
  const p50 = medianOf(rounds, 'p50');
  const p99 = medianOf(rounds, 'p99');
  const reason = starved(rounds);
  return {
    metric,
    unit,
    better,
    value: rangeOf(samples),
    samples,
    ...(baseline !== undefined && {
      baseline: { name: baseline, value: rangeOf(beside), samples: beside },
      ratio: ratioOf(rounds),
    }),
    ...(rates && { rates }),
    ...(p50 !== undefined && { p50 }),
    ...(p99 !== undefined && { p99 }),
    ...(aim && { aim }),
    counted: reason === undefined,
    ...(reason !== undefined && { reason }),
  };
};

const rangeOf = (values: readonly number[]): Range => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

const ratioOf = (rounds: readonly Round[]): Range => {
  const bounds = rounds.flatMap(
    ({ value, baseline = Number.NaN, interval }) => interval ?? [value / baseline],
  );
  return {
    ...rangeOf(bounds),
    median:
      median(rounds.map(({ value }) => value)) / median(rounds.flatMap(({ baseline }) => baseline ?? [])),
  };
};

const medianOf = (rounds: readonly Round[], name: 'p50' | 'p99'): number | undefined => {
  const values = rounds.flatMap((round) => round[name] ?? []);
  return values.length === 0 ? undefined : median(values);
};

const ratesOf = (rounds: readonly Round[]): { troupe: number; baseline?: number } => {
  const [troupe, beside] = [0, 1].map((of) => rounds.flatMap(({ rates }) => rates?.[of] ?? []));
  return {
    troupe: median(troupe ?? []),
    ...(beside && beside.length > 0 && { baseline: median(beside) }),
  };
};

const starved = (rounds: readonly Round[]): string | undefined => {
  const names = new Set(rounds.flatMap(({ shares = {} }) => Object.keys(shares)));
  const poor = Array.from(names, (name) => {
    const share = median(rounds.flatMap(({ shares }) => shares?.[name] ?? []));
    return share < LEAST_SHARE ? `${name} had ${Math.round(share * 100)} % of its core` : '';
  });
  return poor.filter((text) => text !== '').join(', ') || undefined;
};

/** Undefined without an aim, or if the row does not count. */
export const meetsAim = ({ aim, counted, value, ratio, p99 }: Row): boolean | undefined => {
  if (!aim || !counted) return undefined;
  const figure = { value: value.median, ratio: ratio?.median, p99 }[aim.of];
  if (figure === undefined) return undefined;
  return 'most' in aim ? figure <= aim.most : figure >= aim.least;
};

/** Combines the samples of both measurements. */
export const joined = (before: readonly Measured[], after: readonly Measured[]): Measured[] => {
  const nameOf = ({ metric, baseline = '' }: Measured): string => JSON.stringify([metric, baseline]);
  const later = new Map(after.map((measured) => [nameOf(measured), measured]));
  const known = new Set(before.map(nameOf));
  return [
    ...before.map((measured) => ({
      ...measured,
      rounds: [...measured.rounds, ...(later.get(nameOf(measured))?.rounds ?? [])],
    })),
    ...after.filter((measured) => !known.has(nameOf(measured))),
  ];
};
