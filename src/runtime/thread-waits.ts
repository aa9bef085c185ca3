import { NotFound } from '../schema/outcome.ts';
import type { Run, WaitingTicket } from '../schema/run.ts';
import { awaitsTasks } from '../schema/run-state.ts';
import { findTicket } from '../tools/find-ticket.ts';
import { delegatedRun } from '../tools/tickets.ts';
import { endDormant } from './dormant.ts';
import { settleDispatch } from './ending.ts';
import type { Execution } from './execution.ts';
import { issuedTickets } from './issued-tickets.ts';
import { targetedAt } from './pending.ts';
import { consumeWork, workOf } from './queue.ts';
import { attachTo } from './readers.ts';
import type { Decision, Input, TaskTold } from './requests.ts';
import {
  followRun,
  noteDecision,
  openTicketsIn,
  renewLease,
  resumeRun,
  steerRun,
  wakeRun,
} from './run-control.ts';
import type { DecisionTarget } from './submission.ts';
import { dropHeld, leaveHeld, type Thread, takeUpHeld, writeNow } from './thread.ts';
import { lineUpIfFull } from './thread-alarm.ts';
import { acceptDecision, type Decided, logDecision, type OpenTicket, ticketsOf } from './wait.ts';
import { stageEvent } from './wake.ts';
import { newResume, putWork } from './work.ts';
import { commit, deliver, putDispatch, type Write } from './write.ts';

/** Runs of a thread that wait: the decisions and the news of tasks that they wait for, and how a wait ends. */

/** Runs that wait and do nothing else: one whose wait is being written still executes. */
export const resting = ({ ledger, active }: Thread): Run[] =>
  [...ledger.waiting.values()].filter(({ run_id }) => run_id !== active?.run_id);

const restingRun = (thread: Thread, run_id: string): Run | undefined =>
  resting(thread).find((run) => run.run_id === run_id);

/** The run of this id waits for its tasks, and nothing executes it. */
export const isAwaitingTasks = (thread: Thread, run_id: string): boolean =>
  awaitsTasks(restingRun(thread, run_id));

/** The wait is over: the run is done, and no ticket of it is open. */
export const endWait = (thread: Thread, write: Write, run: Run): void => {
  const { ledger, queue, deps, held } = thread;
  deliver(write, targetedAt(ledger.pending, run.run_id), run.run_id);
  const after = endDormant(write, run, { type: 'CANCEL' }, deps.settings.event_capture_mode);
  if (held?.run_id === run.run_id) {
    const { dispatch } = held;
    if (dispatch)
      putDispatch(write, settleDispatch(dispatch, after, undefined, ledger.epoch, write.at), dispatch);
    dropHeld(thread);
  }
  consumeWork(queue, write, run.run_id);
};

/** Every open ticket of the thread, those of the newest run first. */
const openTicketsOf = (thread: Thread): OpenTicket[] => {
  const { active, held } = thread;
  const here = [active, held].flatMap((each) =>
    each ? openTicketsIn(each).map((ticket) => ({ ...ticket, run_id: each.run_id })) : [],
  );
  const dormant = resting(thread)
    .reverse()
    .filter((run) => run.run_id !== held?.run_id)
    .flatMap((run) => ticketsOf(run).map((ticket) => ({ ...ticket, run_id: run.run_id })));
  return [...here, ...dormant];
};

/** Undefined when no such ticket is open. @throws Conflict, Unprocessable */
export const resolveDecision = (thread: Thread, target: DecisionTarget): Decided | undefined => {
  const { about_child, run_id } = target;
  const open = openTicketsOf(thread);
  if (about_child !== undefined) return newsFor(open, about_child);
  const found = findTicket(open, issuedTickets(thread.ledger), target.tool_call_id);
  if (!found || (run_id !== undefined && found.ticket.run_id !== run_id)) return undefined;
  return acceptDecision(found, target);
};

/** The call that waits for the run looks at it again, and decides nothing below. */
const newsFor = (open: readonly OpenTicket[], child_run_id: string): Decided | undefined => {
  const ticket = open.find(({ ticket_id }) => delegatedRun(ticket_id) === child_run_id);
  return (
    ticket && {
      run_id: ticket.run_id,
      call_id: ticket.tool_call_id,
      ticket_id: ticket.ticket_id,
      resume: { action: 'resume', result: null, below: [] },
      edit: undefined,
    }
  );
};

/** On a call of the run that executes. */
export const decide = (thread: Thread, request: Decision): void => {
  if (thread.active) decideHere(thread, request, thread.active, false);
};

/** On a call of the run that is held: it executes again. */
export const resumeHeld = (thread: Thread, request: Decision): void => {
  const resumed = takeUpHeld(thread);
  if (resumed) decideHere(thread, request, resumed, true);
};

const decideHere = (
  thread: Thread,
  { decided, attach, accept, refuse }: Decision,
  on: Execution,
  parked: boolean,
): void => {
  const write = writeNow(thread);
  renewLease(on, write);
  note(thread, write, { on, decided, parked });
  commit(write, 'input').then(accept, refuse);
  resumeRun(on, attach);
};

type Note = { on: Execution; decided: Decided; parked: boolean };

const note = (thread: Thread, write: Write, { on, decided, parked }: Note): void => {
  const decision = newResume(thread, write, decided);
  noteDecision(on, write, { call_id: decided.call_id, decision, parked });
  const dispatch_id = on.dispatch?.dispatch_id ?? on.run_id;
  logDecision(write, { thread_id: thread.id, dispatch_id, ...decided }, decision, 'local_live');
};

/** Is the ticket among those that are open? */
const isOpen = (open: readonly WaitingTicket[], { ticket_id }: Decided): boolean =>
  open.some((ticket) => ticket.ticket_id === ticket_id);

/** Of the run that executes: one of its calls waits, others are under way. */
export const answer = (thread: Thread, { decided, attach, accept, refuse }: Input): void => {
  const on = thread.active;
  if (!on) return;
  const write = writeNow(thread);
  renewLease(on, write);
  let noted = 0;
  for (const each of decided) {
    if (each.run_id !== on.run_id || !isOpen(openTicketsIn(on), each)) continue;
    note(thread, write, { on, decided: each, parked: false });
    noted += 1;
  }
  const { run_id } = on;
  const dispatch_id = on.dispatch?.dispatch_id ?? run_id;
  const accepted = { run_id, thread_id: thread.id, dispatch_id, status: 'running' } as const;
  commit(write, 'input').then(() => accept(accepted), refuse);
  if (noted > 0) resumeRun(on, attach);
  else if (attach) followRun(on, attach);
};

/** On a call of a run that waits: it goes on when it is its turn. */
export const enqueueDecision = (thread: Thread, { decided, attach, accept, refuse }: Decision): void => {
  const { ledger, held, readers } = thread;
  const open = ledger.waiting.get(decided.run_id);
  if (!open) {
    refuse(new NotFound(`run not found: ${decided.run_id}`));
    return;
  }
  const write = writeNow(thread);
  if (held?.run_id === open.run_id) leaveHeld(thread, write);
  if (attach) attachTo(readers, open.run_id, attach);
  putWork(thread, write, {
    now: false,
    mode: 'resume',
    messages: [],
    decided: [decided],
    run: { open, news: false },
  });
  commit(write, 'input').then(accept, refuse);
  lineUpIfFull(thread);
};

/** What a task tells joins its run, which executes, at the next step. */
export const deliverEvent = (thread: Thread, told: TaskTold): void => {
  if (thread.active) steerRun(thread.active);
  hear(thread, told);
};

/** The run that waits for the task goes on when it is its turn. */
export const wakeInLine = (thread: Thread, told: TaskTold): void => {
  hear(thread, told, (write) => {
    // Held, it waits in this process; from now on it waits for its turn.
    if (thread.held?.run_id === told.run_id) leaveHeld(thread, write);
    enqueueWake(thread, write, told.run_id);
  });
  lineUpIfFull(thread);
};

/** Nothing is added when work for the run is queued already. */
const enqueueWake = (thread: Thread, write: Write, run_id: string): void => {
  const open = thread.ledger.waiting.get(run_id);
  if (!open || workOf(thread.queue, run_id)) return;
  putWork(thread, write, { now: false, mode: 'internal_wake', messages: [], run: { open, news: true } });
};

/** The run that waits for the task is held, and executes again. */
export const wakeHeld = (thread: Thread, told: TaskTold): void => {
  const woken = takeUpHeld(thread);
  hear(thread, told, (write) => {
    if (!woken) return;
    renewLease(woken, write);
    wakeRun(woken, write);
  });
  if (woken) resumeRun(woken);
};

/** Its run waits for something else and learns of it then; if it is done, nobody has to know. */
export const keepEvent = (thread: Thread, told: TaskTold): void => {
  if (restingRun(thread, told.run_id)) hear(thread, told);
  else {
    told.staged();
    told.accept();
  }
};

/** Stages what a task tells, with whatever else it leads to. */
const hear = (
  thread: Thread,
  { run_id, message, staged, accept, refuse }: TaskTold,
  more?: (write: Write) => void,
): void => {
  const write = writeNow(thread);
  stageEvent(write, run_id, message);
  more?.(write);
  commit(write, 'input').then(accept, refuse);
  staged();
};
