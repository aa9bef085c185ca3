import { setImmediate } from 'node:timers/promises';
import type { Store } from '../../store/index.ts';

/** Keys that are checked per event-loop tick. */
const SLICE = 500;

/** Removes responses that were created before this time, in milliseconds. Resolves to their number. */
export const sweepResponses = async (
  { responses, batch, commit }: Pick<Store, 'responses' | 'batch' | 'commit'>,
  before: number,
): Promise<number> => {
  let total = 0;
  let from: Parameters<Store['responses']['prune']>[3];
  do {
    const write = batch('commons');
    const { removed, next } = responses.prune(write, before, SLICE, from);
    if (removed > 0) await commit(write);
    else await setImmediate();
    total += removed;
    from = next;
  } while (from);
  return total;
};
