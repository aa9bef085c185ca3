import { isRewound, type Message } from '../../schema/message.ts';
import type { GoingCall, WaitingTicket } from '../../schema/run.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { Thread } from '../../schema/thread.ts';
import type { IssuedTickets } from '../../tools/find-ticket.ts';
import { issuedTickets } from '../ledger/issued-tickets.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { hasMessage, historyOf, openRunOf } from '../ledger/ledger.ts';
import { currentOf } from '../ledger/rewind.ts';
import { goingCallsIn, openTicketsIn } from '../run/control.ts';
import type { Execution } from '../run/execution.ts';
import { ticketsOf } from './tickets.ts';

/**
 * The view of a thread for requests that depend on its state: clients send the conversation as they see it, and
 * responses to calls that wait or have waited. The view is valid for the current tick; a request submitted in the same
 * tick is decided on consistent data.
 */
export type ThreadView = {
  /** Whether the history or the pending messages contain a message with this id. */
  has(message_id: string): boolean;
  /** Returns the history at the time of the call, which may be later than the rest of the view. */
  history(): readonly Message[];
  /** Returns the id of the last message that is visible to clients. */
  last(): string | undefined;
  /** Returns the id of the last message of a user that is visible to clients, pending ones included. */
  lastQuestion(): string | undefined;
  /** Number of the last message of the history; 0 without one. */
  readonly seq: number;
  /** The record of the thread; undefined if it does not exist. */
  readonly record: Thread | undefined;
  /** Whether no run has been started in the thread. */
  readonly fresh: boolean;
  /** The executing run, or else the open one if it waits. */
  readonly run_id: string | undefined;
  /** The executing run, including one whose wait is being written. */
  readonly executes: string | undefined;
  /** Returns a run as last written, including one that the store does not contain yet. */
  run(run_id: string): RunRecord | undefined;
  /** Returns the current message for this id: the message itself, or its latest edit. */
  current(message_id: string): Message | undefined;
  /** Returns the run that has consumed a message, or for which the message is pending. */
  runOf(message_id: string): RunRecord | undefined;
  /** The open tickets of the run. */
  readonly tickets: readonly WaitingTicket[];
  /** All tickets that the thread has ever issued. */
  readonly issued: IssuedTickets;
  /** The unfinished calls of the run that need no decision. */
  readonly going: readonly GoingCall[];
};

export const viewOf = (
  ledger: Ledger,
  execution: Execution | undefined,
  run: ThreadView['run'],
): ThreadView => {
  const open = openRunOf(ledger);
  return {
    has: (message_id) => hasMessage(ledger, message_id),
    history: () => historyOf(ledger),
    last: () => historyOf(ledger).findLast(({ visibility }) => visibility === undefined)?.id,
    lastQuestion: () =>
      ledger.pending.findLast(({ message }) => isQuestion(message))?.message.id ??
      historyOf(ledger).findLast(isQuestion)?.id,
    seq: ledger.tail.seq,
    record: ledger.record?.thread,
    fresh: ledger.record?.thread.latest_run_id === undefined,
    run_id: execution?.run_id ?? open?.run_id,
    executes: execution?.run_id,
    run,
    current: (message_id) => currentOf(historyOf(ledger), message_id),
    runOf(message_id) {
      const history = historyOf(ledger);
      const index = history.findLastIndex(({ id }) => id === message_id);
      const stored = history[index];
      const answer = history[index + 1];
      // The answer of that run was rewound, and another run has answered since.
      if (stored && answer && isRewound(answer)) return undefined;
      const staged = ledger.pending.find(({ message }) => message.id === message_id);
      const run_id = stored?.metadata?.run_id ?? staged?.delivery_mode.target_run_id;
      return run_id === undefined ? undefined : run(run_id);
    },
    tickets: execution ? openTicketsIn(execution) : open ? ticketsOf(open) : [],
    issued: issuedTickets(ledger),
    going: execution ? goingCallsIn(execution) : [],
  };
};

const isQuestion = ({ role, visibility }: Message): boolean => role === 'user' && visibility === undefined;
