import { type Random, randomFrom } from '../src/load-generator/random.ts';

/** Measures several variants in turns, so that changes on the host affect all of them. */

/** @param random order of the variants in each round; without it A B C A B C, in which each follows the same one */
export const interleaved = async <Name extends string, Value>(
  rounds: number,
  variants: Record<Name, () => Promise<Value>>,
  random?: Random,
): Promise<Record<Name, Value[]>> => {
  const names = Object.keys(variants) as Name[]; // The keys of a Record<Name, …> literal are its names.
  const entries = names.map((name): [Name, Value[]] => [name, []]);
  for (let round = 0; round < rounds; round += 1) {
    const order = random ? shuffled(entries, random) : entries;
    for (const [name, values] of order) values.push(await variants[name]());
  }
  // Every name has its entry.
  return Object.fromEntries(entries) as Record<Name, Value[]>;
};

/** Fisher and Yates. */
const shuffled = <Value>(values: readonly Value[], random: Random): Value[] => {
  const order = [...values];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    // Both positions are within the array.
    [order[last], order[other]] = [order[other] as Value, order[last] as Value];
  }
  return order;
};

export const median = (values: readonly number[]): number => percentile(values, 50);

/** The exact percentile of raw values, by nearest rank. */
export const percentile = (values: readonly number[], rank: number): number => {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)] ?? Number.NaN;
};

export type Interval = readonly [low: number, high: number];

const RESAMPLES = 2000;

/**
 * The 95 % confidence interval of the ratio of two medians, from pairs that were measured together: the percentiles of
 * the ratio over resampled pairs. The same pairs have the same interval.
 */
export const ratioInterval = (values: readonly number[], baseline: readonly number[]): Interval => {
  const random = randomFrom(values.length);
  const ratios = Array.from({ length: RESAMPLES }, () => {
    const pairs = values.map(() => Math.floor(random() * values.length));
    const medianOf = (of: readonly number[]): number => median(pairs.map((pair) => of[pair] ?? Number.NaN));
    return medianOf(values) / medianOf(baseline);
  });
  return [percentile(ratios, 2.5), percentile(ratios, 97.5)];
};
