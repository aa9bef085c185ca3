import type { Message } from '../schema/message.ts';
import { ownTurn } from '../schema/turns.ts';
import { WINDOW_BYTES, WINDOW_ROWS } from './history-windows.ts';
import type { Ledger } from './ledger.ts';
import { applyRewinds } from './rewind.ts';

/**
 * Reads a long history before the first request that needs it, one window in each event-loop tick, so that other
 * threads stream meanwhile. `historyOf` reads a short one, and the rest of a long one, when it is asked.
 *
 * Guarantees: the ledger has the whole history afterwards, however many requests wait for it. Whatever is appended
 * or deleted meanwhile reads or clears the history first, and the windows are discarded then.
 */

/** Is the history in memory, or short enough to be read at once? */
export const isLoaded = ({ history, tail: { seq, bytes = 0 } }: Ledger): boolean =>
  history !== undefined || (seq <= WINDOW_ROWS && bytes <= WINDOW_BYTES);

export const loadHistory = (ledger: Ledger): Promise<void> => {
  ledger.loading ??= readAll(ledger).finally(() => {
    ledger.loading = undefined;
  });
  return ledger.loading;
};

const readAll = async (ledger: Ledger): Promise<void> => {
  const read: Message[] = [];
  const { seq: last } = ledger.tail;
  for (let from = 1; from <= last; ) {
    await ownTurn();
    if (ledger.history) return;
    const known = read.length;
    from = readWindow(ledger, from, read);
    applyRewinds(read, known);
  }
  ledger.history ??= read;
};

/** Returns where the next one begins. Rows of older programs have no count of bytes; their number bounds them. */
const readWindow = ({ deps, scope, id, tail }: Ledger, from: number, read: Message[]): number => {
  let first: number | undefined;
  let rows = 0;
  for (const { seq, message, bytes = 0 } of deps.store.messages.range(scope, id, { from })) {
    read.push(message);
    rows += 1;
    first ??= bytes;
    if (rows === WINDOW_ROWS || bytes - first > WINDOW_BYTES) return seq + 1;
  }
  return tail.seq + 1;
};
