import { NotFound } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import { endDormant } from './dormant.ts';
import { settleDispatch } from './ending.ts';
import type { Execution } from './execution.ts';
import type { Write } from './ledger.ts';
import { resumedRun } from './records.ts';
import type { DecisionInput, DecisionTarget } from './submission.ts';
import type { Decision, Host, Input, TaskTold } from './thread-machine.ts';
import type { ThreadParts } from './thread-parts.ts';
import { decisionOf, heldTicketOf, logDecision, type Ticket, ticketOf } from './wait.ts';
import { enqueueWake, stageEvent } from './wake.ts';

/** Runs of a thread that wait: the decisions and the news of tasks that they wait for, and how a wait ends. */

export type Waits = Pick<
  Host,
  | 'decide'
  | 'answer'
  | 'resumeHeld'
  | 'enqueueDecision'
  | 'deliverEvent'
  | 'enqueueWake'
  | 'wakeHeld'
  | 'keepEvent'
> & {
  /** Runs that wait and do nothing else: one whose wait is being written still executes. */
  resting(): Run[];
  restingRun(run_id: string): Run | undefined;
  /** The wait is over: the run is done, and no ticket of it is open. */
  endWait(write: Write, run: Run): void;
  /** The open ticket that a decision is for; of several runs the newest one that has it. */
  ticketFor(target: DecisionTarget): Ticket | undefined;
};

export const createWaits = (
  { deps: { ids, settings }, id, ledger, queue, admission, occupancy, open }: ThreadParts,
  { lineUp }: { lineUp(): void },
): Waits => {
  const resting = (): Run[] =>
    [...ledger.waiting().values()].filter(({ run_id }) => run_id !== occupancy.active?.run_id);

  const restingRun = (run_id: string): Run | undefined => resting().find((run) => run.run_id === run_id);

  const note = (
    write: Write,
    on: Execution,
    ticket: Ticket,
    target: DecisionInput,
    parked: boolean,
  ): void => {
    const decision = decisionOf(ids, ticket, target, write.at);
    on.note(write, ticket.call_id, decision, parked);
    const { dispatch_id } = on.dispatch();
    logDecision(write, { thread_id: id, dispatch_id, ...ticket }, decision, 'local_live');
  };

  const decideHere = ({ ticket, target, ...answer }: Decision, on: Execution, parked: boolean): void => {
    const write = open();
    on.renew(write);
    note(write, on, ticket, target, parked);
    write.commit('input').then(answer.accept, answer.refuse);
    on.resume(target.attach);
  };

  /** Of the run that executes: one of its calls waits, others are under way. */
  const answer = ({ decisions = [], attach, accept, refuse }: Input, on: Execution): void => {
    const write = open();
    on.renew(write);
    let noted = 0;
    for (const target of decisions) {
      const ticket = heldTicketOf(on, target.tool_call_id);
      if (!ticket) continue;
      note(write, on, ticket, target, false);
      noted += 1;
    }
    const { run_id } = on;
    const { dispatch_id } = on.dispatch();
    const accepted = { run_id, thread_id: id, dispatch_id, status: 'running' } as const;
    write.commit('input').then(() => accept(accepted), refuse);
    if (noted > 0) on.resume(attach);
    else if (attach) on.follow(attach);
  };

  /** Stages what a task tells, with the rest of what it leads to. */
  const hear = (
    { run_id, message, staged, accept, refuse }: TaskTold,
    more?: (write: Write) => void,
  ): void => {
    const write = open();
    stageEvent(write, run_id, message);
    more?.(write);
    write.commit('input').then(accept, refuse);
    staged();
  };

  return {
    resting,
    restingRun,
    endWait(write, run) {
      write.deliver(admission.inputFor(run.run_id), run.run_id);
      const after = endDormant(write, run, { type: 'CANCEL' }, settings.event_capture_mode);
      const { held } = occupancy;
      if (held?.run_id === run.run_id) {
        const dispatch = held.dispatch();
        write.dispatch(settleDispatch(dispatch, after, undefined, ledger.epoch(), write.at), dispatch);
        occupancy.dropHeld();
      }
      queue.consume(write, run.run_id);
    },
    ticketFor({ run_id, tool_call_id }) {
      const { active, held } = occupancy;
      const here = [active, held].flatMap((each) => (each ? [heldTicketOf(each, tool_call_id)] : []));
      const dormant = resting()
        .reverse()
        .filter((run) => run.run_id !== held?.run_id)
        .map((run) => ticketOf(run, tool_call_id));
      return [...here, ...dormant].find(
        (found) => found && (run_id === undefined || found.run_id === run_id),
      );
    },
    decide(request) {
      if (occupancy.active) decideHere(request, occupancy.active, false);
    },
    answer(request) {
      if (occupancy.active) answer(request, occupancy.active);
    },
    resumeHeld(request) {
      const resumed = occupancy.unpark();
      if (resumed) decideHere(request, resumed, true);
    },
    enqueueDecision({ ticket, target, accept, refuse }) {
      const run = ledger.waiting().get(ticket.run_id);
      if (!run) return refuse(new NotFound(`run not found: ${ticket.run_id}`));
      const write = open();
      if (occupancy.held?.run_id === run.run_id) occupancy.leave(write);
      const decision = decisionOf(ids, ticket, target, write.at);
      const queued = queue.find(run.run_id);
      const before = queued ? (run.activation?.seeded_decisions ?? []) : [];
      const dispatch = queued ?? admission.newWork(write, run.run_id);
      const after = resumedRun(run, {
        mode: 'resume',
        dispatch_id: dispatch.dispatch_id,
        at: write.at,
        decisions: [...before, [ticket.call_id, decision]],
        input: false,
      });
      write.run(after, run);
      if (target.attach) admission.attachTo(run.run_id, target.attach);
      const about = { thread_id: id, dispatch_id: dispatch.dispatch_id, ...ticket };
      logDecision(write, about, decision, 'durable_dispatch');
      if (!queued) queue.add(write, dispatch);
      write.commit('input').then(accept, refuse);
      lineUp();
    },
    deliverEvent(request) {
      occupancy.active?.steer();
      hear(request);
    },
    enqueueWake(request) {
      hear(request, (write) => {
        // Held, it waits in this process; from now on it waits for its turn.
        if (occupancy.held?.run_id === request.run_id) occupancy.leave(write);
        enqueueWake({ ledger, queue, newWork: admission.newWork }, write, request.run_id);
      });
      lineUp();
    },
    wakeHeld(request) {
      const woken = occupancy.unpark();
      hear(request, (write) => {
        woken?.renew(write);
        woken?.wake(write);
      });
      woken?.resume();
    },
    keepEvent(request) {
      if (restingRun(request.run_id)) return hear(request);
      request.staged();
      request.accept();
    },
  };
};
