import { isRewound, type Message } from '../../schema/message.ts';
import { Conflict, NotFound } from '../../schema/outcome.ts';
import type { RuntimeDeps } from '../deps.ts';
import { commit } from '../ledger/commit.ts';
import { loadHistory } from '../ledger/history-loading.ts';
import { historyOf } from '../ledger/ledger.ts';
import { retractMessages } from '../ledger/rewind-history.ts';
import { openWrite } from '../ledger/transaction.ts';
import type { Thread } from './state.ts';

/**
 * Retracts a message: readers and the model no longer receive it, and the numbers of the others do not change
 * (runtime.md 4.2).
 *
 * Guarantees: a call is retracted with its results, and a result with its call, because a model rejects one without the
 * other. The history of an open run does not change.
 *
 * @throws NotFound, Conflict
 */
export const retractMessage = async (
  { clock }: Pick<RuntimeDeps, 'clock'>,
  { id, ledger }: Thread,
  message_id: string,
): Promise<void> => {
  if (!ledger.record) throw new NotFound(`thread not found: ${id}`);
  await loadHistory(ledger);
  const { open_run_id, active_run_id } = ledger.record?.thread ?? {};
  if (open_run_id !== undefined || active_run_id !== undefined || ledger.created.size > 0)
    throw new Conflict(`thread '${id}' has an open run: messages can be deleted when it has ended`);
  const history = historyOf(ledger);
  const index = history.findLastIndex((message) => message.id === message_id && isDeletable(message));
  if (index < 0) throw new NotFound(`message not found: ${message_id}`);
  const write = openWrite(ledger, clock.now());
  retractMessages(write, rangesOf(withStep(history, index)));
  await commit(write, 'input');
};

/** Internal messages are not known to clients. */
const isDeletable = (message: Message): boolean => !isRewound(message) && message.visibility !== 'internal';

/** Returns the indexes of a message and of those that belong to the same step. */
const withStep = (history: readonly Message[], index: number): number[] => {
  const call = history[index]?.tool_call_id;
  const asks = ({ tool_calls = [] }: Message): boolean => tool_calls.some(({ id }) => id === call);
  const request = call === undefined ? index : history.slice(0, index).findLastIndex(asks);
  const open = new Set(history[request]?.tool_calls?.map(({ id }) => id));
  const step = new Set(request < 0 ? [index] : [index, request]);
  // A later message with a call of the same id has the results that follow it.
  for (let at = request + 1; at < history.length && open.size > 0; at += 1) {
    const { tool_call_id, tool_calls = [] } = history[at] ?? {};
    for (const { id } of tool_calls) open.delete(id);
    if (tool_call_id !== undefined && open.has(tool_call_id)) step.add(at);
  }
  return [...step].sort((one, other) => one - other);
};

/** Joins neighbors. */
const rangesOf = (indexes: readonly number[]): { from_seq: number; to_seq: number }[] => {
  const ranges: { from_seq: number; to_seq: number }[] = [];
  for (const index of indexes) {
    const seq = index + 1;
    const last = ranges.at(-1);
    if (last && last.to_seq === seq - 1) last.to_seq = seq;
    else ranges.push({ from_seq: seq, to_seq: seq });
  }
  return ranges;
};
