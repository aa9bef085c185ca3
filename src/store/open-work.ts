import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import type { Key } from './keys.ts';

/** What has begun and not ended, in all scopes: what recovery reads instead of everything (runtime.md 17). */

type OpenWorkKind = 'run' | 'dispatch';

type Item = { scope: string; id: string; order: number };

export type OpenWork = {
  /** `wasOpen` is undefined for a record that is new. */
  move(batch: Batch, kind: OpenWorkKind, item: Item, isOpen: boolean, wasOpen: boolean | undefined): void;
  orderOf(kind: OpenWorkKind, scope: string, id: string): number | undefined;
  list(kind: OpenWorkKind): Iterable<Item>;
};

export const createOpenWork = (env: Environment): OpenWork => {
  const rows = env.table<Item>('open_work');
  const keyOf = (kind: OpenWorkKind, { scope, id }: { scope: string; id: string }): Key => [kind, scope, id];
  return {
    move(batch, kind, item, isOpen, wasOpen = false) {
      if (isOpen && !wasOpen) rows.put(batch, keyOf(kind, item), item);
      if (!isOpen && wasOpen) rows.remove(batch, keyOf(kind, item));
    },
    orderOf: (kind, scope, id) => rows.get(keyOf(kind, { scope, id }))?.order,
    list: (kind) => rows.values({ prefix: [kind] }),
  };
};
