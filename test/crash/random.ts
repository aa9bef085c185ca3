/** Random choices that a seed repeats. */

/** 0 ≤ value < 1 */
export type Random = () => number;

/** mulberry32 */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

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
