import type { Message } from '../../schema/message.ts';
import type { Retraction } from '../../store/index.ts';
import { historyOf } from './ledger.ts';
import { applyRewinds, type Rewind, retractionsFrom, rewound } from './rewind.ts';
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
  putMark(write, { from_seq }, retractions, run_id);
};

/** Removes messages in the middle of the history. */
export const retractMessages = (
  write: Write,
  ranges: readonly { from_seq: number; to_seq: number }[],
): void => {
  const history = historyOf(write.ledger);
  const found = ranges.map(({ from_seq, to_seq }) => retractionsFrom(history, from_seq - 1, to_seq));
  const { deps, scope, id } = write.ledger;
  for (const [index, range] of ranges.entries()) {
    deps.store.stopped.removeFrom(write.batch, scope, id, range.from_seq, range.to_seq);
    putMark(write, range, found[index] ?? []);
  }
};

const putMark = (
  write: Write,
  rewind: { from_seq: number; to_seq?: number },
  retractions: readonly Retraction[],
  run_id?: string,
): void => {
  const { ledger, batch } = write;
  const { deps, scope, id } = ledger;
  const of = run_id === undefined ? {} : { run_id };
  const mark: Message = {
    id: deps.ids.uuid(),
    role: 'system',
    content: [],
    visibility: 'internal',
    metadata: { ...of, rewind },
  };
  appendMessages(write, [mark], run_id);
  const own = { seq: ledger.tail.seq, external: false, ...of };
  for (const each of [...retractions, own]) deps.store.retractions.put(batch, scope, id, each);
  applyRewinds(historyOf(ledger), ledger.tail.seq - 1);
};
