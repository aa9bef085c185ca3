import type { Item } from '../../evals/report.ts';

/** How a test case did when it was played last: each model and sample is a play of its own. */
export type Last = { passed: number; plays: number };

export const lastOf = (items: readonly Pick<Item, 'fixture_id' | 'report'>[]): ReadonlyMap<string, Last> => {
  const found = new Map<string, Last>();
  for (const { fixture_id: id, report } of items) {
    const { passed, plays } = found.get(id) ?? { passed: 0, plays: 0 };
    found.set(id, { passed: passed + (report.passed ? 1 : 0), plays: plays + 1 });
  }
  return found;
};
