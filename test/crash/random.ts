import type { Random } from '../../src/load-generator/random.ts';

/** Random choices. */

export const below = (random: Random, limit: number): number => Math.floor(random() * limit);

export const pick = <Value>(random: Random, values: readonly Value[]): Value => {
  const value = values[below(random, values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
};

export const pickByWeight = <Value>(random: Random, table: readonly (readonly [number, Value])[]): Value => {
  const total = table.reduce((sum, [weight]) => sum + weight, 0);
  let left = random() * total;
  for (const [weight, value] of table) {
    left -= weight;
    if (left < 0) return value;
  }
  throw new Error('nothing to pick from');
};
