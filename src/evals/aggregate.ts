import { keyOf, keyText } from '../schema/eval-diff.ts';
import type { EvalAggregate, EvalItem } from '../schema/eval-run.ts';
import { compareItems } from './keys.ts';

/** Aggregates the samples of each fixture and cell (evals-and-traces.md 6.4). */
export const aggregateItems = (items: readonly EvalItem[]): EvalAggregate[] => {
  const groups = new Map<string, EvalItem[]>();
  for (const item of items) {
    const key = keyText({ fixture_id: item.fixture_id, cell: item.cell });
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return Array.from(groups.values(), aggregate).sort(compareItems);
};

const aggregate = (items: readonly EvalItem[]): EvalAggregate => {
  const [first] = items;
  const passed = items.filter(({ report }) => report.passed).length;
  return {
    ...keyOf({ fixture_id: first?.fixture_id ?? '', cell: first?.cell }),
    samples: items.length,
    passed,
    pass_rate: passed / items.length,
    pass_at_k: passed > 0,
    pass_pow_k: passed === items.length,
  };
};
