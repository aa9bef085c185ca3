import { monotonic } from '../../schema/clock.ts';
import { observeDispatch } from '../run/observe-dispatch.ts';
import type { Ledger } from './ledger.ts';
import type { Write } from './transaction.ts';

/** Commits the writes of a thread, and notifies listeners once they are durable. */

/** `input` waits for the durability that the settings promise for accepted input. */
export const commit = async (write: Write, kind: 'progress' | 'input'): Promise<void> => {
  const { ledger, batch, events } = write;
  const { deps, scope, id } = ledger;
  if (write.touched && ledger.record) {
    deps.store.threads.put(batch, scope, ledger.record, ledger.committed);
    ledger.committed = ledger.record;
  }
  const from_seq = ledger.lastEvent + 1;
  if (events.length > 0) {
    deps.store.events.append(batch, scope, id, from_seq, events);
    ledger.lastEvent += events.length;
  }
  if (write.runs.length > 0) ledger.unnotified.push(write);
  if (ledger.record) putIssuedTickets(write);
  ledger.underWay += 1;
  const startedAt = write.dispatches.length > 0 ? monotonic(deps.clock) : 0;
  try {
    await deps.store.commit(batch, kind);
  } catch (error) {
    ledger.underWay -= 1;
    notifyOfDispatches(write, 'error', startedAt);
    if (!ledger.broken) deps.onFailure(error);
    ledger.broken = true;
    resolveQuiet(ledger);
    throw error;
  }
  ledger.underWay -= 1;
  notifyOfDispatches(write, 'ok', startedAt);
  notifyListeners(write, from_seq);
  if (ledger.underWay === 0) {
    clearIssuedTickets(ledger);
    deps.onQuiet();
  }
  resolveQuiet(ledger);
};

const notifyOfDispatches = (
  { ledger, dispatches }: Write,
  result: 'ok' | 'error',
  startedAt: number,
): void => {
  if (dispatches.length === 0) return;
  const { deps } = ledger;
  const commit = { result, seconds: (monotonic(deps.clock) - startedAt) / 1000 };
  for (const [after, before] of dispatches)
    notifySafely(ledger, () => observeDispatch(deps.observe, after, before, commit));
};

/** Notifies the listeners; their failures do not affect the durable commit. */
const notifyListeners = (write: Write, from_seq: number): void => {
  const { ledger, events } = write;
  const { deps, scope, id } = ledger;
  if (events.length > 0) notifySafely(ledger, () => deps.events?.appended(scope, id, from_seq, events));
  for (const { run } of write.runs) notifySafely(ledger, () => deps.onStored(run));
  write.durable = true;
  notifySafely(ledger, () => notifyOfRuns(ledger));
};

const notifySafely = ({ deps }: Ledger, act: () => void): void => {
  try {
    act();
  } catch (error) {
    deps.onListenerError(error);
  }
};

/**
 * Commits become durable out of order, since some wait for the disk; a reader must not see an older state after a newer
 * one.
 */
const notifyOfRuns = (ledger: Ledger): void => {
  for (let first = ledger.unnotified[0]; first?.durable; first = ledger.unnotified[0]) {
    ledger.unnotified.shift();
    for (const { run, changed_at } of first.runs) ledger.deps.runs?.stored(ledger.scope, run, changed_at);
  }
};

const resolveQuiet = (ledger: Ledger): void => {
  if (ledger.underWay > 0 || ledger.whenQuiet.length === 0) return;
  const waiting = ledger.whenQuiet;
  ledger.whenQuiet = [];
  for (const resolve of waiting) resolve();
};

const putIssuedTickets = ({ ledger, batch }: Write): void => {
  const { deps, scope, id, issuing } = ledger;
  for (const ticket of issuing.unsaved) deps.store.tickets.put(batch, scope, id, ticket);
  issuing.unsaved = [];
};

/** Clears the issued tickets once the store contains all of them. */
const clearIssuedTickets = ({ issuing }: Ledger): void => {
  if (issuing.unsaved.length > 0 || issuing.ids.size === 0) return;
  issuing.ids.clear();
  issuing.calls.clear();
};
