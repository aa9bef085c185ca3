import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId, indexed, isId } from './keys.ts';
import type { Removals } from './removals.ts';

/**
 * What the retraction of a tool call takes out of the read view of a history (runtime.md 4.1): the call itself,
 * each of its results, and the marker. A marker may come long after the call, so its effect is kept with the
 * sequence numbers that it has an effect on: a page is read without looking for markers behind it.
 */

export type Retraction =
  /** The assistant message here loses this call. */
  | { seq: number; call_id: string }
  /** The message here is hidden. `external`: it would be visible, were it not for the retraction. */
  | { seq: number; external: boolean; run_id?: string };

export type RetractionTable = {
  put(batch: Batch, scope: string, thread_id: string, retraction: Retraction): void;
  /** Both ends are included. */
  range(scope: string, thread_id: string, from: number, to: number): Retraction[];
};

/** No stand-in for a call id looks like this. */
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
