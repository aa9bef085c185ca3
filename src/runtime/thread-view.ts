import { isRewound, type Message } from '../schema/message.ts';
import type { GoingCall, Run, WaitingTicket } from '../schema/run.ts';
import type { IssuedTickets } from '../tools/find-ticket.ts';
import type { Execution } from './execution.ts';
import { issuedTickets } from './issued-tickets.ts';
import type { Ledger } from './ledger.ts';
import { hasMessage, historyOf, openRunOf } from './ledger.ts';
import { currentOf } from './rewind.ts';
import { goingCallsIn, openTicketsIn } from './run-control.ts';
import { ticketsOf } from './wait.ts';

/**
 * A thread as a protocol reads its requests against it: clients send the conversation as they see it, and answers
 * to calls that wait or have waited. It is of this moment; whoever submits in the same turn decides on the truth.
 */
export type ThreadView = {
  /** Is there a message of this id in the history, or does one wait to join it? */
  has(message_id: string): boolean;
  /** The history as it is when this is called, also later than the rest of the view. */
  history(): readonly Message[];
  /** Id of the last message that clients see. */
  last(): string | undefined;
  /** Nothing has run in it. */
  readonly fresh: boolean;
  /** The run that executes, or else the open one if it waits. */
  readonly run_id: string | undefined;
  /** The run that executes, also one whose wait is being written. */
  readonly executes: string | undefined;
  /** A run as it was last written, also one that the store does not have yet. */
  run(run_id: string): Run | undefined;
  /** What stands in the history for a message of this id: itself, or what it was edited to. */
  current(message_id: string): Message | undefined;
  /** The run that has taken a message, or that it waits to join. */
  runOf(message_id: string): Run | undefined;
  /** What it waits for. */
  readonly tickets: readonly WaitingTicket[];
  /** The tickets that the thread has ever had. */
  readonly issued: IssuedTickets;
  /** What it goes on with meanwhile. */
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
      // What it said is gone, and another run has answered since.
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
