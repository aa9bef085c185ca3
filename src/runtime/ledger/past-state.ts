import type { Batch, PastState } from '../../store/index.ts';
import type { Ledger } from './ledger.ts';

/** Keeps the state of the thread as the run left it, unless an earlier run left the same. */
export const savePastState = ({ ledger, batch }: { ledger: Ledger; batch: Batch }): void => {
  const { deps, scope, id, kept, tail, savedState } = ledger;
  if (!kept || !ledger.record) return;
  const { thread, threadHidden } = kept;
  ledger.savedState = { thread, threadHidden };
  const isSaved = savedState
    ? savedState.thread === thread && savedState.threadHidden === threadHidden
    : isEmpty(ledger.savedState) && !deps.store.pastStates.at(scope, id, tail.seq);
  if (!isSaved) deps.store.pastStates.put(batch, scope, id, tail.seq, ledger.savedState);
};

const isEmpty = ({ thread, threadHidden }: PastState): boolean =>
  Object.keys(thread).length === 0 && Object.keys(threadHidden).length === 0;
