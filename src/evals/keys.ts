import type { EvalItem } from '../schema/eval-run.ts';

/** By what the items of a run are told apart, and the order of that: what is absent comes first. */

export type ItemKey = Pick<EvalItem, 'fixture_id' | 'cell' | 'sample_index'>;

const partsOf = ({ fixture_id, cell, sample_index }: ItemKey): (string | number | undefined)[] => [
  fixture_id,
  cell?.model_id,
  cell?.agent_id,
  cell?.variant_id,
  sample_index,
];

export const keyText = (key: ItemKey): string => JSON.stringify(partsOf(key).map((part) => part ?? null));

export const compareItems = (one: ItemKey, other: ItemKey): number => {
  const others = partsOf(other);
  for (const [index, mine] of partsOf(one).entries()) {
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

/** Without `undefined`, as it is sent. */
export const keyOf = ({ fixture_id, cell, sample_index }: ItemKey): ItemKey => ({
  fixture_id,
  ...(cell && { cell }),
  ...(sample_index !== undefined && { sample_index }),
});
