import type { Message } from '../../schema/message.ts';
import { ownTurn } from '../../schema/turns.ts';
import { WINDOW_BYTES, WINDOW_ROWS } from './history-windows.ts';
import type { Ledger } from './ledger.ts';
import { applyRewinds } from './rewind.ts';

/**
 * Reads a long history before the first request that needs it, one window per event-loop tick, so that other threads
 * can stream in between. `historyOf` reads a short history, and the rest of a long one, synchronously.
 *
 * Guarantees: the ledger has the whole history once `loadHistory` resolves, however many requests wait for it.
 * Appending reads the history first, and deleting clears it; both discard the windows read so far.
 */

/** Whether the history is in memory, or short enough to be read at once. */
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

/** Returns the start of the next window. Rows of older versions have no byte count; their number limits the window. */
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
