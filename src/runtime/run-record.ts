import type { DispatchEvent } from '../../machines/dispatch.ts';
import type { RunEnding, WaitsFor } from '../../machines/run.ts';
import { openTickets } from '../loop/calls.ts';
import { noteTasks } from '../loop/tasks.ts';
import type { Turn } from '../loop/turn.ts';
import { seconds } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Boundary } from '../schema/pending.ts';
import type { Run, RunStatus, Waiting, WaitingTicket } from '../schema/run.ts';
import { reasonOf } from '../schema/run-state.ts';
import { finishedRun, settleDispatch } from './ending.ts';
import type { MessageRange } from './facts.ts';
import { wordOfWait } from './last-words.ts';
import type { Ledger, Write } from './ledger.ts';
import { selectPending } from './pending.ts';
import { advanceDispatch } from './records.ts';
import type { LoggedStream } from './run-stream.ts';

/**
 * The rows of one execution: the run record and its dispatch, as last written, and what one commit puts into
 * them. Everything that the loop gathered since the last commit goes into the next one, in the order it came.
 */

export type RunRecord = {
  run(): Run;
  dispatch(): Dispatch;
  /** Messages, events, counters and state since the last commit; without the record, which the caller writes. */
  gather(write: Write): void;
  /** Input that waits for this boundary joins the history. Returns how many messages. */
  takeInput(write: Write, boundary: Boundary): number;
  /** Writes the record, with these changes. */
  put(write: Write, changes?: Partial<Run>): void;
  /** Writes this record instead. */
  set(write: Write, run: Run): void;
  advance(write: Write, event: DispatchEvent, changes: Partial<Dispatch>): void;
  finish(write: Write, ending: RunEnding, failure: unknown): void;
  /** The open tickets, in the order of their calls. */
  tickets(): WaitingTicket[];
  waitingOn(waits: WaitsFor): Waiting;
};

type RecordInput = {
  ledger: Ledger;
  turn: Turn;
  stream: LoggedStream;
  run: Run;
  dispatch: Dispatch;
  /** The status that the machine is in. */
  status(): RunStatus;
};

export const createRunRecord = ({ ledger, turn, stream, status, ...input }: RecordInput): RunRecord => {
  let { run, dispatch } = input;
  let stored: Run = run;

  const noteOutput = (range: MessageRange | undefined): void => {
    const from_seq = run.output?.range?.from_seq ?? range?.from_seq;
    const to_seq = range?.to_seq ?? run.output?.range?.to_seq;
    if (from_seq === undefined || to_seq === undefined) return;
    run = { ...run, output: { thread_id: run.thread_id, range: { from_seq, to_seq } } };
  };

  const noteInput = (range: MessageRange | undefined, ids: string[]): void => {
    if (run.input?.range || !range) return;
    const taken = { thread_id: run.thread_id, range, trigger_message_ids: ids };
    run = {
      ...run,
      input: taken,
      ...(run.activation && { activation: { ...run.activation, input: taken } }),
    };
  };

  const take = (write: Write, boundary: Boundary): number => {
    const entries = selectPending(ledger.pending(), boundary, run.run_id);
    if (entries.length === 0) return 0;
    noteInput(
      write.deliver(entries, run.run_id),
      entries.map(({ pending_id }) => pending_id),
    );
    return entries.length;
  };

  return {
    run: () => run,
    dispatch: () => dispatch,
    gather(write) {
      noteTasks(turn);
      stream.flush(write, dispatch.dispatch_id);
      const range = write.messages(turn.produced, run.run_id);
      turn.produced = [];
      noteOutput(range);
      const { waiting: _over, ...rest } = run;
      const kept = turn.state.takeKept();
      if (kept) write.keep(run.run_id, kept);
      const seeded_decisions = [...turn.decisions];
      run = {
        ...rest,
        ...(run.activation?.seeded_decisions && {
          activation: { ...run.activation, seeded_decisions },
        }),
        status: status(),
        // Another one, after a hand-over.
        agent_id: turn.agent.spec.id,
        steps: turn.steps,
        input_tokens: turn.inputTokens,
        output_tokens: turn.outputTokens,
        state: turn.state.ofRun(),
        updated_at: seconds(write.at),
      };
    },
    takeInput: (write, boundary) =>
      // Input for the next step that came while the run waited goes on with it.
      take(write, boundary) + (boundary === 'resume_input' ? take(write, 'next_step') : 0),
    put(write, changes) {
      run = { ...run, ...changes };
      write.run(run, stored);
      stored = run;
    },
    set(write, next) {
      run = next;
      write.run(run, stored);
      stored = run;
    },
    advance(write, event, changes) {
      const before = dispatch;
      dispatch = advanceDispatch(dispatch, event, { ...changes, updated_at: write.at });
      write.dispatch(dispatch, before);
    },
    finish(write, ending, failure) {
      run = finishedRun(run, ending, turn, ledger.history(), write.at);
      write.run(run, stored);
      stored = run;
      const settled = settleDispatch(dispatch, run, failure, ledger.epoch(), write.at);
      write.dispatch(settled, dispatch);
      dispatch = settled;
    },
    tickets: () => ticketsIn(turn),
    waitingOn(waits) {
      const reason = reasonOf(waits);
      const message = wordOfWait(turn, waits);
      if (turn.agent.remote && waits !== 'forTasks')
        return { reason, since_dispatch_id: dispatch.dispatch_id, message };
      const tickets = ticketsIn(turn);
      const since_dispatch_id = run.session_id ?? dispatch.dispatch_id;
      if (tickets.length === 0) return { reason, since_dispatch_id, message };
      const ticket_ids = tickets.map(({ ticket_id }) => ticket_id);
      return { reason, ticket_ids, tickets, since_dispatch_id, message };
    },
  };
};

const ticketsIn = ({ calls }: Turn): WaitingTicket[] =>
  openTickets(calls).flatMap(({ call, ticket, updated_at }) =>
    ticket
      ? [
          {
            ticket_id: ticket.id.trim() === '' ? call.id : ticket.id,
            tool_call_id: call.id,
            tool_name: call.name,
            ...(call.arguments !== null && { arguments: call.arguments }),
            resume_mode: ticket.resume_mode,
            reason: ticket.reason,
            updated_at,
          },
        ]
      : [],
  );
