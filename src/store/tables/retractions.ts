import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId } from '../engine/keys.ts';
import type { Removals } from '../engine/removals.ts';

/**
 * The effects of the retraction of a tool call on the read view of a history (runtime.md 4.1): on the call itself, each
 * of its results, and the marker. A marker may come long after the call, so its effects are stored under the sequence
 * numbers that they apply to: a page is read without searching for markers after it.
 */

export type Retraction =
  /** Removes this call from the assistant message. */
  | { seq: number; call_id: string }
  /** Hides the message. `external`: whether the message would otherwise be visible. */
  | { seq: number; external: boolean; run_id?: string };

export type RetractionTable = {
  put(batch: Batch, scope: string, thread_id: string, retraction: Retraction): void;
  /** Both ends are inclusive. */
  range(scope: string, thread_id: string, from: number, to: number): Retraction[];
};

/** Never equal to an indexed call id. */
const HIDDEN = 'hidden';

export const createRetractionTable = (
  env: Environment,
  removals: Pick<Removals, 'isMarked'>,
): RetractionTable => {
  const rows = env.table<Retraction>('retractions');
  return {
    put(batch, scope, thread_id, retraction) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      const of = 'call_id' in retraction ? indexed(retraction.call_id) : HIDDEN;
      rows.put(batch, [scope, thread_id, retraction.seq, of], retraction);
    },
    range: (scope, thread_id, from, to) =>
      isId(thread_id) && !removals.isMarked(scope, thread_id)
        ? Array.from(rows.values({ prefix: [scope, thread_id], from: [from], to: [to] }))
        : [],
  };
};
