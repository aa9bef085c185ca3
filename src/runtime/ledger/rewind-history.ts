import type { Message } from '../../schema/message.ts';
import { historyOf } from './ledger.ts';
import { applyRewinds, type Rewind, rewound } from './rewind.ts';
import { appendMessages, type Write } from './transaction.ts';

/** Removes the messages after the rewind target from the history; does nothing without such messages. */
export const rewindHistory = (write: Write, to: Rewind, run_id: string): void => {
  const { ledger, batch } = write;
  const { deps, scope, id } = ledger;
  const history = historyOf(ledger);
  const found = rewound(history, to);
  if (!found) return;
  const { from_seq, retractions } = found;
  deps.store.stopped.removeFrom(batch, scope, id, to.drops ? from_seq : from_seq - 1);
  if (retractions.length === 0) return;
  const mark: Message = {
    id: deps.ids.uuid(),
    role: 'system',
    content: [],
    visibility: 'internal',
    metadata: { run_id, rewind: { from_seq } },
  };
  appendMessages(write, [mark], run_id);
  const own = { seq: ledger.tail.seq, external: false, run_id };
  for (const each of [...retractions, own]) deps.store.retractions.put(batch, scope, id, each);
  applyRewinds(history);
};
