import type { DispatchEvent } from '../../../machines/dispatch.ts';
import { isAwaited, type RunEnding, type WaitsFor } from '../../../machines/run-types.ts';
import { openTickets } from '../../loop/calls.ts';
import { outputProgress } from '../../loop/output.ts';
import { noteTasks } from '../../loop/tasks.ts';
import { argumentsOf, type StepCall, type Turn } from '../../loop/turn.ts';
import { seconds } from '../../schema/clock.ts';
import { cutOffOf } from '../../schema/cut-off.ts';
import type { Dispatch } from '../../schema/dispatch.ts';
import type { Json } from '../../schema/json.ts';
import type { Message } from '../../schema/message.ts';
import type { Boundary } from '../../schema/pending.ts';
import type { Run, Waiting, WaitingTicket } from '../../schema/run.ts';
import {
  hasTag,
  inState,
  type RunRecord,
  type RunState,
  recordedState,
  waitReason,
} from '../../schema/run-state.ts';
import type { MessageRange } from '../ledger/event-payloads.ts';
import { historyOf } from '../ledger/ledger.ts';
import { selectPending } from '../ledger/pending.ts';
import {
  appendMessages,
  deliver,
  persistState,
  putDispatch,
  putRun,
  type Write,
} from '../ledger/transaction.ts';
import { advanceDispatch } from './dispatch-records.ts';
import { correlationOf, type Execution } from './execution.ts';
import { endedBy, finishedRun, settleDispatch } from './outcome.ts';
import { waitMessage } from './terminal-event.ts';
import { answeredState } from './transitions.ts';

/**
 * The rows of one execution: the run record and its dispatch, as last written, and the changes of each commit. All
 * output of the loop since the last commit is part of the next one, in its order.
 */

/**
 * Returns the state in which a commit writes the record: that of the machine, or, while no process could resume the run
 * from there, that of the last commit.
 */
export const currentState = ({ actor, stored }: Execution): RunState =>
  (actor && recordedState(actor.getSnapshot())) ?? stored.machine_state;

/** Returns the state of a wait that is being written: what it waits for may have arrived in the meantime. */
export const stateOfWait = ({ actor }: Execution, waits: WaitsFor): RunState => {
  const state: RunState = `waiting.${waits}`;
  return actor && isAwaited(actor.getSnapshot().context) ? answeredState(state) : state;
};

/** Writes messages, events, counters and state since the last commit; the caller writes the record. */
export const gather = (execution: Execution, write: Write, state: RunState): void => {
  const { turn, stream, run_id } = execution;
  noteTasks(turn);
  stream.flush(write, correlationOf(execution));
  execution.trace?.write(write.batch, 'now');
  execution.account?.write(write.batch);
  execution.usage?.write(write.batch);
  const produced = appendMessages(write, turn.produced, run_id);
  turn.produced = [];
  const kept = turn.state.takePersisted();
  if (kept) persistState(write, run_id, kept);
  const run = copyOf(execution.run);
  noteOutput(run, produced);
  if (run.activation?.seeded_decisions) {
    run.activation = { ...run.activation };
    run.activation.seeded_decisions = [...turn.decisions];
  }
  Object.assign(run, inState(state));
  // The agent may have changed in a hand-over.
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

/** Records the usage of aborted attempts, and the cost of all attempts. */
const noteCutOff = (run: RunRecord, { lost, costUsd }: Pick<Turn, 'lost' | 'costUsd'>): void => {
  const cut_off = cutOffOf(lost);
  if (cut_off) run.cut_off = cut_off;
  if (costUsd !== undefined) run.cost_usd = costUsd;
};

/** Writes the last committed record with the usage of attempts aborted since then. */
export const putCutOff = (execution: Execution, write: Write): void => {
  const { stored, turn } = execution;
  const run = { ...stored };
  // The answer of a completed inference since then is lost with the execution.
  const lost = {
    input: turn.lost.input + turn.inputTokens - stored.input_tokens,
    output: turn.lost.output + turn.outputTokens - stored.output_tokens,
  };
  noteCutOff(run, { lost, costUsd: turn.costUsd });
  execution.account?.write(write.batch);
  execution.usage?.write(write.batch);
  setRecord(execution, write, run);
};

/** Returns a mutable copy of the run, without its wait. */
const copyOf = (run: RunRecord): RunRecord => {
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

/** Stores the partial text of a stopped answer alongside the history. */
export const keepStopped = ({ ledger, batch, at }: Write, message: Message, run_id: string): void => {
  const { deps, scope, id, record, tail } = ledger;
  if (!record) return;
  deps.store.stopped.put(batch, scope, id, { seq: tail.seq, run_id, message, created_at: seconds(at) });
};

/** Moves the pending input for this boundary into the history. Returns the number of messages. */
export const takeInput = (execution: Execution, write: Write, boundary: Boundary): number => {
  const taken = take(execution, write, boundary);
  // Input for the next step that arrived while the run waited is consumed when it resumes.
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

export const putRecord = (execution: Execution, write: Write): void =>
  setRecord(execution, write, execution.run);

/** Makes `run` the current record and writes it. */
export const setRecord = (execution: Execution, write: Write, run: RunRecord): void => {
  execution.run = run;
  putRun(write, run, execution.stored);
  execution.stored = run;
};

/**
 * Applies an event to the dispatch of the run; a run without a dispatch has nothing to change. Only `putEnd` supersedes
 * work of an older epoch, so that a dispatch never becomes terminal in a commit that leaves its run running.
 */
export const advanceWork = (
  execution: Execution,
  write: Write,
  event: DispatchEvent,
  changes: Partial<Dispatch>,
): void => {
  const { dispatch, ledger, run } = execution;
  if (!dispatch || (hasTag(run, 'running') && dispatch.dispatch_epoch < ledger.epoch)) return;
  const after = advanceDispatch(dispatch, event, { ...changes, updated_at: write.at });
  execution.dispatch = after;
  putDispatch(write, after, dispatch);
};

/** Writes the final record, and settles the dispatch. */
export const putEnd = (execution: Execution, write: Write, ending: RunEnding): void => {
  const { ledger, turn, dispatch, failure } = execution;
  const run = finishedRun(execution.run, ending, turn, historyOf(ledger), write.at);
  setRecord(execution, write, run);
  const how = endedBy(run, failure);
  execution.end = how;
  if (!dispatch) return;
  const reason = failure instanceof Error ? failure.message : String(failure);
  const end = { how, reason, threadEpoch: ledger.epoch, at: write.at };
  execution.dispatch = settleDispatch(dispatch, run, end);
  putDispatch(write, execution.dispatch, dispatch);
};

export const waitingOn = ({ turn, run, dispatch }: Execution, waits: WaitsFor): Waiting => {
  const reason = waitReason(waits);
  const message = waitMessage(turn, waits);
  const from = dispatch?.dispatch_id ?? run.run_id;
  if (turn.agent.remote && waits !== 'forTasks') return { reason, since_dispatch_id: from, message };
  const tickets = ticketsOf(turn);
  const since_dispatch_id = run.session_id ?? from;
  if (tickets.length === 0) return { reason, since_dispatch_id, message };
  const ticket_ids = tickets.map(({ ticket_id }) => ticket_id);
  return { reason, ticket_ids, tickets, since_dispatch_id, message };
};

/** Returns the open tickets, in the order of their calls. */
export const ticketsOf = ({ calls }: Turn): WaitingTicket[] => waitingTickets(openTickets(calls));

/** Like `ticketsOf`, without calls that already resume with a decision. */
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
            ...argumentsShown(ticket.shows ?? argumentsOf({ call, edited })),
            ...(ticket.shows !== undefined && { call_arguments: argumentsOf({ call, edited }) }),
            resume_mode: ticket.resume_mode,
            ...(ticket.digest !== undefined && { digest: ticket.digest }),
            ...(ticket.tickets && { tickets: [...ticket.tickets] }),
            ...(ticket.deciders && { deciders: ticket.deciders }),
            reason: ticket.reason,
            ...(ticket.message !== undefined && { message: ticket.message }),
            updated_at,
          },
        ]
      : [],
  );

const argumentsShown = (args: Json): { arguments?: Json } => (args === null ? {} : { arguments: args });
