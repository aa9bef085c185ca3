/** Measures several variants in turns, A B C A B C, so that changes on the host affect all of them. */

export const interleaved = async <Name extends string, Value>(
  rounds: number,
  variants: Record<Name, () => Promise<Value>>,
): Promise<Record<Name, Value[]>> => {
  const names = Object.keys(variants) as Name[]; // The keys of a Record<Name, …> literal are its names.
  const entries = names.map((name): [Name, Value[]] => [name, []]);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, values] of entries) values.push(await variants[name]());
  }
  // Every name has its entry.
  return Object.fromEntries(entries) as Record<Name, Value[]>;
};

export const median = (values: readonly number[]): number => percentile(values, 50);

/** The exact percentile of raw values, by nearest rank. */
export const percentile = (values: readonly number[], rank: number): number => {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)] ?? Number.NaN;
};
