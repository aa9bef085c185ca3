import type { ListedMessage } from '../../schema/message.ts';
import type { HistoryOf, MessageFilter } from './history-ranks.ts';
import { stoppedAnswers, viewed } from './history-view.ts';

/**
 * Reads a whole history in windows, so that readers of all of it can yield to other work between two windows.
 *
 * Guarantees: the windows together contain the results of `viewed` and `stoppedAnswers`, in descending order and
 * without the messages that were written after the call of `openHistory`. The newest window is complete when it is read
 * in the tick of that call, because a history only grows at its end.
 * Relies on the caller: once `isCurrent` returns false, the thread was deleted, and the windows read so far must be
 * discarded.
 * Cost: a bounded number of rows and bytes per window, unless a single message is larger.
 */
export type OpenHistory = {
  /** Each step of the iterator reads one window. */
  windows: Iterator<ListedMessage[]>;
  /** False once the thread was deleted, even if another thread has its id. */
  isCurrent(): boolean;
  /** Returns the message as the view shows it now; undefined when it is hidden or deleted. */
  read(place: HistoryPosition): ListedMessage | undefined;
};

/** Stopped answers share the number of the message before them, so the id is required too. */
export type HistoryPosition = Pick<ListedMessage, 'seq' | 'id'>;

/** Number of sequence numbers per window. */
export const WINDOW_ROWS = 200;
export const WINDOW_BYTES = 4 * 1024 * 1024;

export const openHistory = (of: HistoryOf, filter: MessageFilter, rows = WINDOW_ROWS): OpenHistory => {
  const { store, scope, thread_id } = of;
  const last = store.messages.last(scope, thread_id);
  const end = Math.min(last?.seq ?? 0, (filter.before ?? Number.MAX_SAFE_INTEGER) - 1);
  return {
    windows: windowsOf(of, { ...filter, order: 'asc' }, { end, rows }),
    isCurrent: () => !last || store.messages.at(scope, thread_id, last.seq)?.message.id === last.message.id,
    read({ seq, id }) {
      const floor = Math.floor(seq);
      const found =
        floor === seq
          ? viewed(of, { ...filter, after: seq - 1, before: seq + 1 })
          : stoppedAnswers(of, { ...filter, after: floor, before: floor + 1 });
      for (const message of found) if (message.id === id) return message;
      return undefined;
    },
  };
};

/** A window covers a range of messages and the stopped answers after each of them. */
function* windowsOf(
  of: HistoryOf,
  filter: MessageFilter,
  { end, rows }: { end: number; rows: number },
): Generator<ListedMessage[], undefined> {
  const after = filter.after ?? 0;
  for (let to = end; to >= after; ) {
    // The lowest window contains the stopped answers that follow `after`, but not the message with that number.
    const from = Math.max(after, to - rowsInBound(of, to, rows) + 1);
    const before = to + 1;
    const messages = [...viewed(of, { ...filter, after: Math.max(after, from - 1), before })];
    messages.push(...stoppedAnswers(of, { ...filter, after: from, before }));
    // Stopped answers after one message keep their order, so the rows are not sorted in descending order.
    yield messages.sort((a, b) => a.seq - b.seq).reverse();
    to = from - 1;
  }
}

/**
 * Returns the number of rows up to this one within the byte limit; rows of older versions have no count and no limit.
 */
const rowsInBound = ({ store, scope, thread_id }: HistoryOf, to: number, most: number): number => {
  const bytesUpTo = (seq: number): number => store.messages.at(scope, thread_id, seq)?.bytes ?? 0;
  const bytes = bytesUpTo(to);
  let rows = most;
  while (rows > 1 && bytes - bytesUpTo(to - rows) > WINDOW_BYTES) rows = Math.ceil(rows / 2);
  return rows;
};
