import type { Acceptance, IdempotencyRow, KeyName } from '../../schema/idempotency.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { indexed, type Key } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * Accepted requests by their `Idempotency-Key` (runtime.md 0.8), and the same by time, for their removal.
 *
 * Cost: two puts per accepted request with a key. A key that is used again after its retention leaves the earlier row of
 * the time index behind, which the removal skips.
 */
export type IdempotencyTable = {
  get(name: KeyName): IdempotencyRow | undefined;
  put(batch: Batch, acceptance: Acceptance): void;
  /** Removes rows that were accepted before this time, oldest first and at most `max`; returns their number. */
  prune(batch: Batch, beforeMs: number, max: number): number;
  /** Removes the rows of a caller, whose name another user may have next. */
  removeOf(batch: Batch, caller: Pick<KeyName, 'scope' | 'caller'>): void;
};

export const createIdempotencyTable = (env: Environment): IdempotencyTable => {
  const rows = env.table<IdempotencyRow>('idempotency');
  const times = env.table<KeyName>('idempotency_times');
  return {
    get: (name) => rows.get(keyOf(name)),
    put(batch, { row, visible }) {
      const { scope, caller, key, accepted_at } = row;
      rows.put(batch, keyOf(row), row);
      times.put(batch, [accepted_at, ...keyOf(row)], { scope, caller, key });
      batch.afterwards.push(visible);
    },
    prune(batch, beforeMs, max) {
      let removed = 0;
      for (const { key, value } of times.entries({ prefix: [], to: [beforeMs], limit: max })) {
        times.remove(batch, key);
        if (rows.get(keyOf(value))?.accepted_at === key[0]) rows.remove(batch, keyOf(value));
        removed += 1;
      }
      return removed;
    },
    removeOf: (batch, { scope, caller }) => rows.clear(batch, [indexed(scope), indexed(caller)]),
  };
};

/** The columns of a shipped row. */
export const idempotencyColumns = ({ scope, accepted_at }: IdempotencyRow): Columns => ({
  scope,
  at: accepted_at,
});

const keyOf = ({ scope, caller, key }: KeyName): Key => [indexed(scope), indexed(caller), key];
