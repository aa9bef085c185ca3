import type { MessageRow, PastState } from '../../store/index.ts';
import { savePastState } from './past-state.ts';
import { applyRewinds, retractionsOf } from './rewind.ts';
import type { Write } from './transaction.ts';

/** Writes the history and the state of another thread into a new one; messages keep their numbers and times. */
export const copyHistory = (
  write: Write,
  rows: readonly MessageRow[],
  state: PastState | undefined,
): void => {
  const { ledger, batch } = write;
  const { deps, scope, id } = ledger;
  deps.store.messages.append(batch, scope, id, [...rows]);
  for (const retraction of retractionsOf(rows)) deps.store.retractions.put(batch, scope, id, retraction);
  const last = rows.at(-1);
  if (last) ledger.tail = last;
  ledger.history = applyRewinds(rows.map(({ message }) => message));
  ledger.known = undefined;
  if (!state) return;
  const { thread, threadHidden } = state;
  ledger.kept = { thread, threadHidden, runs: {} };
  deps.store.state.put(batch, scope, id, ledger.kept);
  savePastState(write);
};
