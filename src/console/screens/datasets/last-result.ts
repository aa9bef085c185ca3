import type { Item } from '../../eval-results/report.ts';

/** The last result of a test case; each combination of model and sample is a separate execution. */
export type Last = { passed: number; plays: number };

export const lastOf = (items: readonly Pick<Item, 'fixture_id' | 'report'>[]): ReadonlyMap<string, Last> => {
  const found = new Map<string, Last>();
  for (const { fixture_id: id, report } of items) {
    const { passed, plays } = found.get(id) ?? { passed: 0, plays: 0 };
    found.set(id, { passed: passed + (report.passed ? 1 : 0), plays: plays + 1 });
  }
  return found;
};
