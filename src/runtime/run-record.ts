import type { DispatchEvent } from '../../machines/dispatch.ts';
import type { RunEnding, WaitsFor } from '../../machines/run.ts';
import { openTickets } from '../loop/calls.ts';
import { outputProgress } from '../loop/output.ts';
import { noteTasks } from '../loop/tasks.ts';
import { argumentsOf, type StepCall, type Turn } from '../loop/turn.ts';
import { seconds } from '../schema/clock.ts';
import { cutOffOf } from '../schema/cut-off.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Json } from '../schema/json.ts';
import type { Message } from '../schema/message.ts';
import type { Boundary } from '../schema/pending.ts';
import type { Run, Waiting, WaitingTicket } from '../schema/run.ts';
import { reasonOf } from '../schema/run-state.ts';
import { advanceDispatch } from './dispatch-records.ts';
import { finishedRun, settleDispatch } from './ending.ts';
import { correlationOf, type Execution } from './execution.ts';
import type { MessageRange } from './facts.ts';
import { wordOfWait } from './last-words.ts';
import { historyOf } from './ledger.ts';
import { selectPending } from './pending.ts';
import { statusOf } from './run-records.ts';
import { appendMessages, deliver, keepState, putDispatch, putRun, type Write } from './write.ts';

/**
 * The rows of one execution: the run record and its dispatch, as last written, and what one commit puts into
 * them. Everything that the loop gathered since the last commit goes into the next one, in the order it came.
 */

/** Messages, events, counters and state since the last commit; without the record, which the caller writes. */
export const gather = (execution: Execution, write: Write): void => {
  const { turn, stream, actor, run_id } = execution;
  noteTasks(turn);
  stream.flush(write, correlationOf(execution));
  execution.trace?.write(write.batch, 'now');
  const produced = appendMessages(write, turn.produced, run_id);
  turn.produced = [];
  const kept = turn.state.takeKept();
  if (kept) keepState(write, run_id, kept);
  const run = copyOf(execution.run);
  noteOutput(run, produced);
  if (run.activation?.seeded_decisions) {
    run.activation = { ...run.activation };
    run.activation.seeded_decisions = [...turn.decisions];
  }
  if (actor) run.status = statusOf(actor.getSnapshot());
  // Another one, after a hand-over.
  run.agent_id = turn.agent.spec.id;
  run.steps = turn.steps;
  run.input_tokens = turn.inputTokens;
  run.output_tokens = turn.outputTokens;
  noteCutOff(run, turn);
  const { repairs } = outputProgress(turn);
  if (repairs > 0) run.output_repairs = repairs;
  run.state = turn.state.ofRun();
  run.updated_at = seconds(write.at);
  execution.run = run;
};

/** What attempts that broke off have used joins the record, and what all of them cost. */
const noteCutOff = (run: Run, { lost, costUsd }: Turn): void => {
  const cut_off = cutOffOf(lost);
  if (cut_off) run.cut_off = cut_off;
  if (costUsd !== undefined) run.cost_usd = costUsd;
};

/** The record as it was written last, with what has broken off since. */
export const putCutOff = (execution: Execution, write: Write): void => {
  const run = { ...execution.stored };
  noteCutOff(run, execution.turn);
  setRecord(execution, write, run);
};

/** A copy to be changed, of a run that does not wait any more. */
const copyOf = (run: Run): Run => {
  if (!run.waiting) return { ...run };
  const { waiting: _over, ...rest } = run;
  return rest;
};

const noteOutput = (run: Run, produced: MessageRange | undefined): void => {
  const before = run.output?.range;
  const from_seq = before?.from_seq ?? produced?.from_seq;
  const to_seq = produced?.to_seq ?? before?.to_seq;
  if (from_seq === undefined || to_seq === undefined) return;
  run.output = { thread_id: run.thread_id, range: { from_seq, to_seq } };
};

/** What was there of an answer is kept beside the history. */
export const keepStopped = ({ ledger, batch, at }: Write, message: Message, run_id: string): void => {
  const { deps, scope, id, record, tail } = ledger;
  if (!record) return;
  deps.store.stopped.put(batch, scope, id, { seq: tail.seq, run_id, message, created_at: seconds(at) });
};

/** Input that waits for this boundary joins the history. Returns how many messages. */
export const takeInput = (execution: Execution, write: Write, boundary: Boundary): number => {
  const taken = take(execution, write, boundary);
  // Input for the next step that came while the run waited goes on with it.
  return boundary === 'resume_input' ? taken + take(execution, write, 'next_step') : taken;
};

const take = (execution: Execution, write: Write, boundary: Boundary): number => {
  const { ledger, run_id } = execution;
  const entries = selectPending(ledger.pending, boundary, run_id);
  if (entries.length === 0) return 0;
  const range = deliver(write, entries, run_id);
  if (!execution.run.input?.range && range) {
    const trigger_message_ids = entries.map(({ pending_id }) => pending_id);
    noteInput(execution, { thread_id: ledger.id, range, trigger_message_ids });
  }
  return entries.length;
};

const noteInput = (execution: Execution, input: NonNullable<Run['input']>): void => {
  const run = { ...execution.run };
  run.input = input;
  if (run.activation) {
    run.activation = { ...run.activation };
    run.activation.input = input;
  }
  execution.run = run;
};

/** Writes the record as it is now. */
export const putRecord = (execution: Execution, write: Write): void =>
  setRecord(execution, write, execution.run);

/** Writes this record. */
export const setRecord = (execution: Execution, write: Write, run: Run): void => {
  execution.run = run;
  putRun(write, run, execution.stored);
  execution.stored = run;
};

/**
 * Its dispatch takes the event. A run without one has nothing to advance. Work of an older epoch is superseded by
 * `putEnd` alone, so that a dispatch never becomes terminal in a commit that leaves its run running.
 */
export const advanceWork = (
  execution: Execution,
  write: Write,
  event: DispatchEvent,
  changes: Partial<Dispatch>,
): void => {
  const { dispatch, ledger, run } = execution;
  if (!dispatch || (run.status === 'running' && dispatch.dispatch_epoch < ledger.epoch)) return;
  const after = advanceDispatch(dispatch, event, { ...changes, updated_at: write.at });
  execution.dispatch = after;
  putDispatch(write, after, dispatch);
};

/** The record of its end, and what becomes of its dispatch. */
export const putEnd = (execution: Execution, write: Write, ending: RunEnding): void => {
  const { ledger, turn, dispatch, failure } = execution;
  const run = finishedRun(execution.run, ending, turn, historyOf(ledger), write.at);
  setRecord(execution, write, run);
  if (!dispatch) return;
  execution.dispatch = settleDispatch(dispatch, run, failure, ledger.epoch, write.at);
  putDispatch(write, execution.dispatch, dispatch);
};

export const waitingOn = ({ turn, run, dispatch }: Execution, waits: WaitsFor): Waiting => {
  const reason = reasonOf(waits);
  const message = wordOfWait(turn, waits);
  const from = dispatch?.dispatch_id ?? run.run_id;
  if (turn.agent.remote && waits !== 'forTasks') return { reason, since_dispatch_id: from, message };
  const tickets = ticketsOf(turn);
  const since_dispatch_id = run.session_id ?? from;
  if (tickets.length === 0) return { reason, since_dispatch_id, message };
  const ticket_ids = tickets.map(({ ticket_id }) => ticket_id);
  return { reason, ticket_ids, tickets, since_dispatch_id, message };
};

/** The open tickets, in the order of their calls. */
export const ticketsOf = ({ calls }: Turn): WaitingTicket[] => waitingTickets(openTickets(calls));

/** Without those whose calls go on with a decision already. */
export const suspendedTicketsOf = ({ calls }: Turn): WaitingTicket[] =>
  waitingTickets(openTickets(calls).filter(({ status }) => status === 'suspended'));

const waitingTickets = (calls: readonly StepCall[]): WaitingTicket[] =>
  calls.flatMap(({ call, edited, ticket, updated_at }) =>
    ticket
      ? [
          {
            ticket_id: ticket.id.trim() === '' ? call.id : ticket.id,
            tool_call_id: call.id,
            tool_name: call.name,
            ...argumentsShown(argumentsOf({ call, edited })),
            resume_mode: ticket.resume_mode,
            ...(ticket.digest !== undefined && { digest: ticket.digest }),
            ...(ticket.tickets && { tickets: [...ticket.tickets] }),
            reason: ticket.reason,
            ...(ticket.message !== undefined && { message: ticket.message }),
            updated_at,
          },
        ]
      : [],
  );

const argumentsShown = (args: Json): { arguments?: Json } => (args === null ? {} : { arguments: args });
