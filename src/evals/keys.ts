import { keyParts, type ResultKey } from '../schema/eval-diff.ts';
import type { EvalItem } from '../schema/eval-run.ts';

/** Keys that identify the items of a run, and their order: absent parts sort first. */

export type ItemKey = Pick<EvalItem, 'fixture_id' | 'cell' | 'sample_index'>;

export const compareItems = (one: ResultKey, other: ResultKey): number => {
  const others = keyParts(other);
  for (const [index, mine] of keyParts(one).entries()) {
    const order = compareParts(mine, others[index]);
    if (order !== 0) return order;
  }
  return 0;
};

const compareParts = (mine: string | number | undefined, other: string | number | undefined): number => {
  if (mine === other) return 0;
  if (mine === undefined) return -1;
  if (other === undefined) return 1;
  if (typeof mine === 'number' && typeof other === 'number') return mine - other;
  return Buffer.compare(Buffer.from(String(mine)), Buffer.from(String(other)));
};
