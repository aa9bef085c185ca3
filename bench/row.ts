import { median } from './rounds.ts';

/**
 * What a benchmark measures, and the row that it makes.
 *
 * A row is a figure of Troupe, once a round, with what was measured beside it in the same round. A ratio is of
 * medians; its range is that of the rounds, each with its own neighbour. A row in which a server had less than nine
 * tenths of its core, or of what it wanted of it where the load is not meant to fill it, says so and does not count:
 * neither is it held against its aim nor compared with another build's.
 */

export type Round = {
  value: number;
  baseline?: number;
  /** Of Troupe and of its baseline, beside a figure that is not a rate itself; a second. */
  rates?: readonly [number, number?];
  /** What each server had of its core, by its name. */
  shares?: Record<string, number>;
  p50?: number;
  p99?: number;
};

/** What is wanted of the figure, or of its ratio or p99. */
export type Aim = { of: 'value' | 'ratio' | 'p99' } & ({ most: number } | { least: number });

export type Measured = {
  /** With the name of the baseline, it names the row. */
  metric: string;
  unit: string;
  /** `lower` when left out. */
  better?: 'lower' | 'higher';
  /** What stands beside Troupe. */
  baseline?: string;
  aim?: Aim;
  /** A benchmark measures one at a time. */
  rounds: Round[];
};

export type Range = { median: number; min: number; max: number };

export type Row = {
  metric: string;
  unit: string;
  better: 'lower' | 'higher';
  value: Range;
  /** Of Troupe, one a round. */
  samples: number[];
  baseline?: { name: string; value: Range; samples: number[] };
  ratio?: Range;
  rates?: { troupe: number; baseline?: number };
  p50?: number;
  p99?: number;
  aim?: Aim;
  counted: boolean;
  /** Why it does not count. */
  reason?: string;
};

const LEAST_SHARE = 0.9;

export const rowOf = ({ metric, unit, better = 'lower', baseline, aim, rounds }: Measured): Row => {
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
      ratio: ratioOf(samples, beside),
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

const ratioOf = (values: readonly number[], baseline: readonly number[]): Range => ({
  ...rangeOf(values.map((value, round) => value / (baseline[round] ?? Number.NaN))),
  median: median(values) / median(baseline),
});

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

/** Undefined when there is no aim, or nothing that counts. */
export const meetsAim = ({ aim, counted, value, ratio, p99 }: Row): boolean | undefined => {
  if (!aim || !counted) return undefined;
  const figure = { value: value.median, ratio: ratio?.median, p99 }[aim.of];
  if (figure === undefined) return undefined;
  return 'most' in aim ? figure <= aim.most : figure >= aim.least;
};

/** The samples of both, as if they had been measured at once. */
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
