import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import type { Key } from './keys.ts';

/** Dispatches that have begun and not ended, in all scopes: what recovery reads instead of everything (runtime.md 17). */

type Item = { scope: string; id: string; order: number };

export type OpenWork = {
  /** `wasOpen` is undefined for a record that is new. */
  move(batch: Batch, item: Item, isOpen: boolean, wasOpen: boolean | undefined): void;
  orderOf(scope: string, id: string): number | undefined;
  /** So many behind this one, or the first. */
  list(after: Pick<Item, 'scope' | 'id'> | undefined, limit: number): Item[];
};

export const createOpenWork = (env: Environment): OpenWork => {
  const rows = env.table<Item>('open_work');
  const keyOf = (scope: string, id: string): Key => ['dispatch', scope, id];
  return {
    move(batch, item, isOpen, wasOpen = false) {
      if (isOpen && !wasOpen) rows.put(batch, keyOf(item.scope, item.id), item);
      if (!isOpen && wasOpen) rows.remove(batch, keyOf(item.scope, item.id));
    },
    orderOf: (scope, id) => rows.get(keyOf(scope, id))?.order,
    list: (after, limit) =>
      Array.from(
        rows.values({ prefix: ['dispatch'], limit, ...(after && { after: [after.scope, after.id] }) }),
      ),
  };
};
