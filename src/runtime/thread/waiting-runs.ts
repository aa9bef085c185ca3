import { NotFound } from '../../schema/outcome.ts';
import type { WaitingTicket } from '../../schema/run.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { findTicket } from '../../tools/find-ticket.ts';
import { delegatedRun } from '../../tools/tickets.ts';
import { stageEvent } from '../delegation/wake.ts';
import { commit } from '../ledger/commit.ts';
import { issuedTickets } from '../ledger/issued-tickets.ts';
import { targetedAt } from '../ledger/pending.ts';
import { acceptKeyed, deliver, putDispatch, type Write } from '../ledger/transaction.ts';
import {
  followRun,
  noteDecision,
  noteTaskEvent,
  openTicketsIn,
  renewLease,
  resumeRun,
  steerRun,
  wakeRun,
} from '../run/control.ts';
import { endDormant } from '../run/end-inactive.ts';
import type { Execution } from '../run/execution.ts';
import { settleDispatch } from '../run/outcome.ts';
import { attachTo } from './pending-readers.ts';
import { consumeWork, workOf } from './queue.ts';
import { raiseBudget } from './raise-budget.ts';
import type { Decision, Input, TaskUpdate } from './request-types.ts';
import { newResume, scheduleContinuation } from './schedule-run.ts';
import { detachSuspended, discardSuspended, resumeSuspended, type Thread, writeNow } from './state.ts';
import type { DecisionTarget } from './submission.ts';
import { acceptDecision, type Decided, logDecision, type OpenTicket, ticketsOf } from './tickets.ts';
import { queueForSlot } from './timer.ts';
import { toolChangedAt } from './tool-changes.ts';

/** Waiting runs of a thread: the decisions and task events that they wait for, and the end of a wait. */

/** Returns the runs that only wait: a run whose wait is being written still executes. */
export const waitingRuns = ({ ledger, active }: Thread): RunRecord[] =>
  [...ledger.waiting.values()].filter(({ run_id }) => run_id !== active?.run_id);

const inactiveRun = (thread: Thread, run_id: string): RunRecord | undefined =>
  waitingRuns(thread).find((run) => run.run_id === run_id);

/** Whether the run waits for its background tasks and does not execute. */
export const isAwaitingTasks = (thread: Thread, run_id: string): boolean =>
  inactiveRun(thread, run_id)?.machine_state === 'waiting.forTasks';

/** Ends the wait: the run becomes done, and none of its tickets stays open. */
export const endWait = (thread: Thread, write: Write, run: RunRecord): void => {
  const { ledger, queue, deps, suspended } = thread;
  deliver(write, targetedAt(ledger.pending, run.run_id), run.run_id);
  const after = endDormant(write, run, { type: 'CANCEL' }, deps.settings.event_capture_mode);
  if (suspended?.run_id === run.run_id) {
    const { dispatch } = suspended;
    const end = { how: 'consumed', threadEpoch: ledger.epoch, at: write.at } as const;
    if (dispatch) putDispatch(write, settleDispatch(dispatch, after, end), dispatch);
    discardSuspended(thread);
  }
  consumeWork(queue, write, run.run_id);
};

/** Returns every open ticket of the thread, those of the newest run first. */
const openTicketsOf = (thread: Thread): OpenTicket[] => {
  const { active, suspended } = thread;
  const here = [active, suspended].flatMap((each) =>
    each ? openTicketsIn(each).map((ticket) => ofRun(ticket, each.run)) : [],
  );
  const dormant = waitingRuns(thread)
    .reverse()
    .filter((run) => run.run_id !== suspended?.run_id)
    .flatMap((run) => ticketsOf(run).map((ticket) => ofRun(ticket, run)));
  return [...here, ...dormant];
};

const ofRun = (ticket: WaitingTicket, { run_id, agent_id, user, credential }: RunRecord): OpenTicket => ({
  ...ticket,
  run_id,
  agent_id,
  user,
  credential,
});

/** Undefined when no such ticket is open. @throws Conflict, Unprocessable */
export const resolveDecision = (thread: Thread, target: DecisionTarget): Decided | undefined => {
  const { about_child, run_id } = target;
  const open = openTicketsOf(thread);
  if (about_child !== undefined) return recheckOf(open, about_child);
  const found = findTicket(open, issuedTickets(thread.ledger), target.tool_call_id);
  if (!found || (run_id !== undefined && found.ticket.run_id !== run_id)) return undefined;
  const { deps } = thread;
  return acceptDecision(found, target, {
    people: deps.store,
    changedAt: (subject) => toolChangedAt(deps, subject),
  });
};

/** Returns a resume without decisions, so that the call that waits for the run checks it again. */
const recheckOf = (open: readonly OpenTicket[], child_run_id: string): Decided | undefined => {
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

/** Applies a decision to a call of the executing run. */
export const decide = (thread: Thread, request: Decision): void => {
  if (thread.active) decideHere(thread, request, thread.active, false);
};

/** Applies a decision to a call of the suspended run, which then executes again. */
export const resumeHeld = (thread: Thread, request: Decision): void => {
  const resumed = resumeSuspended(thread);
  if (resumed) decideHere(thread, request, resumed, true);
};

const decideHere = (
  thread: Thread,
  { decided, attach, keyed, accept, refuse }: Decision,
  on: Execution,
  suspended: boolean,
): void => {
  const write = writeNow(thread);
  renewLease(on, write);
  note(thread, write, { on, decided, suspended });
  acceptKeyed(write, keyed, undefined);
  commit(write, 'input').then(accept, refuse);
  resumeRun(on, attach);
};

type Note = { on: Execution; decided: Decided; suspended: boolean };

const note = (thread: Thread, write: Write, { on, decided, suspended }: Note): void => {
  const decision = newResume(thread, write, decided);
  noteDecision(on, write, { call_id: decided.call_id, decision, suspended });
  const dispatch_id = on.dispatch?.dispatch_id ?? on.run_id;
  logDecision(write, { thread_id: thread.id, dispatch_id, ...decided }, decision, 'local_live');
  raiseBudget(thread, write, on.run, decided);
};

const isOpen = (open: readonly WaitingTicket[], { ticket_id }: Decided): boolean =>
  open.some((ticket) => ticket.ticket_id === ticket_id);

/** Applies decisions to calls of the executing run that wait while others still execute. */
export const answer = (thread: Thread, { decided, attach, keyed, accept, refuse }: Input): void => {
  const on = thread.active;
  if (!on) return;
  const write = writeNow(thread);
  renewLease(on, write);
  let noted = 0;
  for (const each of decided) {
    if (each.run_id !== on.run_id || !isOpen(openTicketsIn(on), each)) continue;
    note(thread, write, { on, decided: each, suspended: false });
    noted += 1;
  }
  const { run_id } = on;
  const dispatch_id = on.dispatch?.dispatch_id ?? run_id;
  const accepted = { run_id, thread_id: thread.id, dispatch_id, status: 'running' } as const;
  acceptKeyed(write, keyed, accepted);
  commit(write, 'input').then(() => accept(accepted), refuse);
  if (noted > 0) resumeRun(on, attach);
  else if (attach) followRun(on, attach);
};

/** Applies a decision to a call of a waiting run, and queues the run. */
export const enqueueDecision = (
  thread: Thread,
  { decided, attach, keyed, accept, refuse }: Decision,
): void => {
  const { ledger, suspended, readers } = thread;
  const open = ledger.waiting.get(decided.run_id);
  if (!open) {
    refuse(new NotFound(`run not found: ${decided.run_id}`));
    return;
  }
  const write = writeNow(thread);
  if (suspended?.run_id === open.run_id) detachSuspended(thread, write);
  if (attach) attachTo(readers, open.run_id, attach);
  scheduleContinuation(thread, write, { now: false, mode: 'resume', messages: [], open, decided: [decided] });
  acceptKeyed(write, keyed, undefined);
  commit(write, 'input').then(accept, refuse);
  queueForSlot(thread);
};

/** Stages a task event for the next step of its run, which executes. */
export const deliverEvent = (thread: Thread, event: TaskUpdate): void => {
  const { active } = thread;
  if (active) steerRun(active);
  stageTaskEvent(thread, event, (write) => active && noteTaskEvent(active, write));
};

/** Stages a task event, and queues the run that waits for it. */
export const enqueueResume = (thread: Thread, event: TaskUpdate): void => {
  stageTaskEvent(thread, event, (write) => {
    // A suspended run is detached from this process and queued instead.
    if (thread.suspended?.run_id === event.run_id) detachSuspended(thread, write);
    enqueueWake(thread, write, event.run_id);
  });
  queueForSlot(thread);
};

/** Adds nothing when work for the run is already queued. */
const enqueueWake = (thread: Thread, write: Write, run_id: string): void => {
  const open = thread.ledger.waiting.get(run_id);
  if (!open || workOf(thread.queue, run_id)) return;
  scheduleContinuation(thread, write, { now: false, mode: 'internal_wake', messages: [], open, news: true });
};

/** Stages a task event for the suspended run, which then executes again. */
export const wakeHeld = (thread: Thread, event: TaskUpdate): void => {
  const woken = resumeSuspended(thread);
  stageTaskEvent(thread, event, (write) => {
    if (!woken) return;
    renewLease(woken, write);
    wakeRun(woken, write);
  });
  if (woken) resumeRun(woken);
};

/** The run is waiting for something else; the event is delivered when it resumes, or dropped if the run is done. */
export const keepEvent = (thread: Thread, event: TaskUpdate): void => {
  if (inactiveRun(thread, event.run_id)) stageTaskEvent(thread, event);
  else {
    event.staged();
    event.accept();
  }
};

/** Stages a task event, together with further writes. */
const stageTaskEvent = (
  thread: Thread,
  { run_id, message, staged, accept, refuse }: TaskUpdate,
  more?: (write: Write) => void,
): void => {
  const write = writeNow(thread);
  stageEvent(write, run_id, message);
  more?.(write);
  commit(write, 'input').then(accept, refuse);
  staged();
};
