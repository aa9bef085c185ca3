import { createActor } from 'xstate';
import { createCompactors } from '../loop/compactors.ts';
import { Conflict, NotFound, Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import { createAdmission } from './admission.ts';
import type { Channel } from './channel.ts';
import { type ChildRuns, createRests } from './child-runs.ts';
import type { RuntimeDeps } from './deps.ts';
import { endDormant } from './dormant.ts';
import { settleDispatch } from './ending.ts';
import { type BoundRunMachine, createExecution, type Execution, type ExecutionInput } from './execution.ts';
import { expiredDecisions } from './expiry.ts';
import { threadFacts } from './facts.ts';
import { awaitsTasks, createLedger, type Ledger, type Write } from './ledger.ts';
import { createMail, type Peers } from './mail.ts';
import { blockingBarrier } from './pending.ts';
import { createQueue } from './queue.ts';
import { isStandIn, logDispatch, resumedRun } from './records.ts';
import type { Accepted, DecisionTarget, Submission } from './submission.ts';
import type { TaskBoard, TaskEvent } from './tasks.ts';
import type {
  BoundThreadMachine,
  Cancel,
  ChildStrategy,
  Decision,
  Host,
  Input,
  Interrupt,
  Removal,
  TaskTold,
} from './thread-machine.ts';
import { decisionOf, heldTicketOf, logDecision, type Ticket, ticketOf } from './wait.ts';
import { enqueueWake, nextStepOf, stageEvent } from './wake.ts';

/**
 * The actor of one thread: everything that changes the thread goes through it, one event after the other. The
 * machine decides; the actions here carry the decision out in one commit, synchronously, and answer the request
 * when the commit is durable. An action that throws, or a commit that fails, retires the actor: it is made again
 * from the store, which is the only truth.
 *
 * The process has the store for itself, so a dispatch that is claimed when the actor is made has lost its worker:
 * it is reclaimed there. Recovery after a crash is therefore nothing but making the actor.
 */

export type ThreadActor = {
  readonly ledger: Ledger;
  /** Resolves when the input is durable. @throws Conflict, NotFound */
  submit(submission: Submission): Promise<Accepted>;
  /** Resolves when the run is done or waits for somebody; without the run when this process has let go of it. */
  rested(run_id: string): Promise<Run | undefined>;
  /** Input was staged for whatever executes here. */
  steer(): void;
  /** Resolves when the decision is durable; false when no such ticket is open. */
  decide(target: DecisionTarget): Promise<boolean>;
  /** A task of one of its runs has told something. Resolves when that is durable, or for nobody. */
  told(event: TaskEvent): Promise<void>;
  /** Tickets of a waiting run whose time is over are decided as they say. */
  expire(run_id: string): void;
  /** The run that a cancel of the thread means: executing, else waiting, else the next in the queue. */
  cancellable(): string | undefined;
  /** False when the run has nothing to cancel any more. */
  cancel(run_id: string): Promise<boolean>;
  /** How many queued dispatches were superseded; undefined when there was nothing to interrupt. */
  interrupt(): Promise<number | undefined>;
  /** Starts queued work, if there is some and nothing else executes. */
  wake(): void;
  /** Stops the thread's work and removes its rows. Resolves when that is durable. */
  remove(strategy: ChildStrategy): Promise<void>;
  /** Prolongs the lease of what executes; a wait that was held long enough goes on without this process. */
  renew(): void;
  /** Lets go of what executes; the next start takes it up again. */
  release(reason: string): void;
  executing(): boolean;
  /** Nothing executes, is held, is queued or is being written: the actor may be dropped and made again. */
  passive(): boolean;
  /** The actor is not used any more. */
  close(): void;
};

export type ThreadOptions = {
  scope: string;
  id: string;
  runMachine: BoundRunMachine;
  threadMachine: BoundThreadMachine;
  tasks: TaskBoard;
  peers: Peers;
  /** False while the service stops: nothing queued is started any more. */
  accepting(): boolean;
  /** The actor must not be used again; another one may be made once `quiet` resolves. `failed`: work is left. */
  onRetired(quiet: Promise<void>, failed: boolean): void;
  /** It may have become passive. */
  onSettled(): void;
  children: ChildRuns;
};

const BUSY = 'thread has an active run; cannot claim inline';
const INTERRUPTED = 'queued dispatch superseded by interrupt';
const OVERTAKEN = 'queued dispatch superseded by newer dispatch epoch';

export const createThreadActor = (deps: RuntimeDeps, options: ThreadOptions): ThreadActor => {
  const { clock, ids, settings, store } = deps;
  const { scope, id } = options;
  /** What executes, and what waits here for a decision without executing: never the same. */
  let execution: Execution | undefined;
  let held: Execution | undefined;
  let claimant: Input | undefined;
  let alarm: NodeJS.Timeout | undefined;
  let whenEnded: (() => void) | undefined;

  /** Resolves when nothing executes any more. */
  const ended = (): Promise<void> =>
    new Promise((resolve) => {
      if (execution) whenEnded = resolve;
      else resolve();
    });

  const retire = (error: unknown): void => {
    deps.log.error({ err: error, thread_id: id }, 'the thread is made again from the store');
    execution?.release('the service could not write to its store');
    held?.drop();
    rests.letGo();
    options.onRetired(ledger.quiet(), true);
  };

  const rests = createRests();
  const onStored = (run: Run): void => {
    options.children.stored(run);
    if (run.status === 'done' && !rests.tell(run.run_id, run)) options.children.ended(run);
  };

  const ledger = createLedger(
    {
      store,
      ids,
      events: deps.events,
      observe: deps.observe.mailbox,
      onStored,
      onRunDone: (run_id) => options.tasks.endRun(scope, run_id),
      onFailure: retire,
    },
    scope,
    id,
  );
  const queue = createQueue(deps, ledger);
  const admission = createAdmission(deps, ledger, queue);

  const compactors = createCompactors({ clock: deps.clock, ids: deps.ids });

  /** A run that was let go belongs to whoever claims its dispatch next, and so does the thread. */
  const letGo = (): void => {
    claimant?.refuse(new Unavailable('the thread was let go; try again'));
    claimant = undefined;
    options.onRetired(ledger.quiet(), true);
  };

  /** For commits that nobody waits for: a failure has already retired the actor. */
  const commitInBackground = (write: Write): void => {
    write.commit('progress').catch(() => {});
  };

  /** Other work takes the thread: the wait goes on without this process. */
  const leaveHeld = (write: Write): void => {
    held?.leave(write);
    held = undefined;
  };

  const launch = (
    input: Pick<ExecutionInput, 'agent' | 'run' | 'dispatch' | 'channel' | 'from'>,
    write: Write,
  ): Execution => {
    const next = createExecution(deps, options.runMachine, {
      ...input,
      ledger,
      compactor: compactors(input.agent),
      tasks: options.tasks.of({
        scope,
        thread_id: id,
        run_id: input.run.run_id,
        inPlace: input.run.parent_run_id !== null,
      }),
      mail: createMail(deps, options.peers, { scope, thread_id: id, run: input.run }),
      onParked() {
        execution = undefined;
        held = next;
        whenEnded?.();
        rests.tell(next.run_id, next.run());
        actor.send({ type: 'RUN_PARKED' });
        armAlarm();
        options.onSettled();
      },
      onSettled(how) {
        if (execution === next) execution = undefined;
        if (held === next) held = undefined;
        whenEnded?.();
        if (how === 'released') {
          rests.letGo();
          return letGo();
        }
        actor.send({ type: 'RUN_ENDED' });
        armAlarm();
        options.onSettled();
      },
      onLeftover: (write, entries) => admission.leaveOver(write, entries, next),
    });
    execution = next;
    next.announce(write);
    return next;
  };

  const begin = (
    request: Input,
    prepared: ReturnType<typeof admission.prepare>,
    write: Write,
    channel: Channel,
  ) => {
    const started = launch({ ...prepared, channel }, write);
    const durable = write.commit('input');
    started.start();
    durable.then(() => {
      channel.release();
      const { run, dispatch } = prepared;
      request.accept({
        run_id: run.run_id,
        thread_id: id,
        dispatch_id: dispatch.dispatch_id,
        status: 'running',
      });
    }, request.refuse);
  };

  const startRun = (request: Input, instead?: Run): void => {
    const write = ledger.open(clock.now());
    if (request.mode === 'foreground') {
      write.bumpEpoch();
      queue.withdraw(write, OVERTAKEN);
    }
    if (instead) endWait(write, instead);
    leaveHeld(write);
    const prepared = admission.prepare(write, request);
    begin(request, prepared, write, admission.channelFor(request));
  };

  const continueRun = (request: Input): void => {
    const open = admission.openFor(request);
    if (!open) throw new Conflict(`no run of thread '${id}' waits`);
    const write = ledger.open(clock.now());
    leaveHeld(write);
    const prepared = admission.prepareContinuation(write, request, open);
    begin(request, prepared, write, admission.channelFor(request));
  };

  const enqueue = (request: Input): void => {
    const write = ledger.open(clock.now());
    const { run_id, dispatch_id } = admission.enqueue(write, request);
    write
      .commit('input')
      .then(() => request.accept({ run_id, thread_id: id, dispatch_id, status: 'queued' }), request.refuse);
    armAlarm();
  };

  const enqueueContinuation = (request: Input): void => {
    const open = admission.openFor(request);
    if (!open) throw new Conflict(`no run of thread '${id}' waits`);
    const write = ledger.open(clock.now());
    const { run_id } = open;
    const { dispatch_id } = admission.enqueueContinuation(write, request, open);
    write
      .commit('input')
      .then(() => request.accept({ run_id, thread_id: id, dispatch_id, status: 'queued' }), request.refuse);
  };

  const deliver = (request: Input): void => {
    if (!execution) throw new Conflict(`no run of thread '${id}' executes`);
    const { run_id } = execution;
    const { dispatch_id } = execution.dispatch();
    const write = ledger.open(clock.now());
    admission.stageFor(write, request, nextStepOf(run_id));
    const durable = write.commit('input');
    execution.steer();
    durable.then(
      () => request.accept({ run_id, thread_id: id, dispatch_id, status: 'running' }),
      request.refuse,
    );
  };

  /** Takes the next dispatch that may start. One that turns out to be void is settled, and the next one is tried. */
  const startNext = (): void => {
    const write = ledger.open(clock.now());
    leaveHeld(write);
    const claimed = queue.take(write);
    const started = claimed && launch({ ...claimed, channel: admission.channelOf(claimed.run) }, write);
    commitInBackground(write);
    if (started) started.start();
    else actor.send({ type: 'RUN_ENDED' });
  };

  /** Whatever is queued or executes now belongs to an epoch that is over. */
  const overtake = (write: Write, reason: string): number => {
    write.bumpEpoch();
    const superseded = queue.withdraw(write, reason);
    interruptActive(write);
    return superseded;
  };

  const interruptActive = (write: Write): void => {
    if (execution?.stoppable()) logDispatch(write, 'RunInterrupted', execution.dispatch());
  };

  /** Runs that wait and do nothing else: one whose wait is being written still executes. */
  const resting = (): Run[] =>
    [...ledger.waiting().values()].filter(({ run_id }) => run_id !== execution?.run_id);

  /** A wait that is over: the run is done, and no ticket of it is open. */
  const endWait = (write: Write, run: Run): void => {
    write.deliver(admission.inputFor(run.run_id), run.run_id);
    const after = endDormant(write, run, { type: 'CANCEL' }, settings.event_capture_mode);
    if (held?.run_id === run.run_id) {
      const dispatch = held.dispatch();
      write.dispatch(settleDispatch(dispatch, after, undefined, ledger.epoch(), write.at), dispatch);
      held.drop();
      held = undefined;
    }
    queue.consume(write, run.run_id);
  };

  const decideHere = ({ ticket, target, ...answer }: Decision, on: Execution, parked: boolean): void => {
    const write = ledger.open(clock.now());
    const decision = decisionOf(ids, ticket, target, write.at);
    on.renew(write);
    on.note(write, ticket.call_id, decision, parked);
    const { dispatch_id } = on.dispatch();
    logDecision(write, { thread_id: id, dispatch_id, ...ticket }, decision, 'local_live');
    write.commit('input').then(answer.accept, answer.refuse);
    on.resume(target.attach);
  };

  /** Stages what a task tells, with the rest of what it leads to. */
  const hear = (
    { run_id, message, staged, accept, refuse }: TaskTold,
    more?: (write: Write) => void,
  ): void => {
    const write = ledger.open(clock.now());
    stageEvent(write, run_id, message);
    more?.(write);
    write.commit('input').then(accept, refuse);
    staged();
  };

  const restingRun = (run_id: string): Run | undefined => resting().find((run) => run.run_id === run_id);

  const host: Host = {
    hasQueued: () => options.accepting() && queue.ready(clock.now()),
    hasWaiting: () => ledger.waiting().size > 0,
    continuesOpenRun: (request) =>
      admission.continues(request as Input) &&
      admission.openFor(request as Input)?.run_id !== execution?.run_id,
    takesInput: (request) => {
      // A task event is for one run; other input may be.
      const { into } = request as Pick<Input, 'into'>;
      return execution?.takesInput() === true && (into === undefined || into === execution.run_id);
    },
    isDelayed: (request) => ((request as Input).available_at ?? 0) > clock.now(),
    executes: (request) => (request as Decision).ticket.run_id === execution?.run_id,
    // A run that nobody drives any more goes on with a dispatch, as after a restart.
    holds: (request) =>
      runNamedBy(request as Decision | TaskTold) === held?.run_id && !isStandIn(held.dispatch()),
    awaitsTasks: (request) => awaitsTasks(restingRun((request as TaskTold).run_id)),
    startRun: (request) => startRun(request),
    continueRun,
    enqueue,
    enqueueContinuation,
    deliver,
    refuse(request) {
      const open = ledger.record()?.thread.open_run_id;
      request.refuse(new NotFound(`run not found: ${open ?? `open run for thread ${id}`}`));
    },
    startNext,
    decide(request) {
      if (execution) decideHere(request, execution, false);
    },
    resumeHeld(request) {
      execution = held;
      held = undefined;
      if (execution) decideHere(request, execution, true);
    },
    deliverEvent(request) {
      execution?.steer();
      hear(request);
    },
    enqueueWake(request) {
      hear(request, (write) =>
        enqueueWake({ ledger, queue, newWork: admission.newWork }, write, request.run_id),
      );
    },
    wakeHeld(request) {
      execution = held;
      held = undefined;
      hear(request, (write) => {
        execution?.renew(write);
        execution?.wake(write);
      });
      execution?.resume();
    },
    keepEvent(request) {
      if (restingRun(request.run_id)) return hear(request);
      request.staged();
      request.accept();
    },
    enqueueDecision({ ticket, target, accept, refuse }) {
      const run = ledger.waiting().get(ticket.run_id);
      if (!run) return refuse(new NotFound(`run not found: ${ticket.run_id}`));
      const write = ledger.open(clock.now());
      if (held?.run_id === run.run_id) leaveHeld(write);
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
    },
    cancel({ run_id, done, refuse }) {
      if (execution?.run_id === run_id) return done(execution.cancel());
      const write = ledger.open(clock.now());
      const waiting = ledger.waiting().get(run_id);
      if (waiting) endWait(write, waiting);
      else if (queue.find(run_id)) queue.cancel(write, run_id);
      else return done(false);
      write.commit('input').then(() => done(true), refuse);
    },
    bumpEpoch() {
      const write = ledger.open(clock.now());
      overtake(write, OVERTAKEN);
      commitInBackground(write);
    },
    interrupt({ done, refuse }) {
      const write = ledger.open(clock.now());
      const superseded = overtake(write, INTERRUPTED);
      for (const run of resting()) endWait(write, run);
      write.commit('input').then(() => done(superseded), refuse);
    },
    cancelActive() {
      execution?.cancel();
    },
    replaceOpen: (request) => startRun(request, ledger.openRun()),
    holdClaimant(request) {
      claimant = request;
    },
    startClaimant() {
      const request = claimant;
      claimant = undefined;
      if (request) startRun(request);
      else actor.send({ type: 'RUN_ENDED' });
    },
    refuseClaimant() {
      claimant?.refuse(new Conflict(BUSY));
      claimant = undefined;
    },
    reportTimeout() {
      if (!execution) return;
      const write = ledger.open(clock.now());
      logDispatch(write, 'MailboxTimeout', execution.dispatch(), {
        reason: 'local_cancel_release_wait',
        timeout_ms: settings.foreground_release_wait_ms,
      });
      commitInBackground(write);
    },
    remove({ strategy, done, refuse }) {
      const record = ledger.record();
      if (!record) return refuse(new NotFound(`thread not found: ${id}`));
      const write = ledger.open(clock.now());
      overtake(write, INTERRUPTED);
      for (const run of resting()) endWait(write, run);
      write.remove();
      const facts = { ...threadFacts(record.thread), child_strategy: strategy };
      write.event('ThreadDeleted', facts, { correlation_id: id, origin: 'server' });
      write.commit('input').then(done, refuse);
      execution?.cancel();
      options.onRetired(ended().then(ledger.quiet), false);
    },
  };

  const armAlarm = (): void => {
    clearTimeout(alarm);
    const next = queue.nextAt();
    if (next !== undefined && !execution) alarm = setTimeout(wake, Math.max(0, next - clock.now())).unref();
  };

  const wake = (): void => {
    actor.send({ type: 'WAKE' });
    armAlarm();
  };

  const actor = createActor(options.threadMachine, { input: { host } });
  actor.subscribe({ error: retire });
  const gone = deps.actors.began(actor, { machine: 'thread', id, scope });
  const undriven = leftUndriven(ledger, store);
  if (queue.orphaned() || undriven) {
    const write = ledger.open(clock.now());
    if (undriven) {
      write.deliver(admission.inputFor(undriven.run_id), undriven.run_id);
      endDormant(write, undriven, { type: 'CANCEL' }, settings.event_capture_mode);
    }
    queue.reclaim(write);
    commitInBackground(write);
    options.children.endStrays();
  }
  actor.start();

  /** The open ticket that a decision is for; of several runs the newest one that has it. */
  const ticketFor = ({ run_id, tool_call_id }: DecisionTarget): Ticket | undefined => {
    const active = [execution, held].flatMap((each) => (each ? [heldTicketOf(each, tool_call_id)] : []));
    const dormant = resting()
      .reverse()
      .filter((run) => run.run_id !== held?.run_id)
      .map((run) => ticketOf(run, tool_call_id));
    return [...active, ...dormant].find(
      (found) => found && (run_id === undefined || found.run_id === run_id),
    );
  };

  /** The run of this id, also one that the store does not have yet. */
  const known = (run_id: string): Run | undefined =>
    execution?.run_id === run_id
      ? execution.run()
      : (ledger.created().get(run_id) ?? store.runs.get(scope, run_id));

  const ask = <Answer, Request extends object>(
    send: (request: Request & { accept(answer: Answer): void; refuse(error: unknown): void }) => void,
    request: Request,
  ): Promise<Answer> => new Promise((accept, refuse) => send({ ...request, accept, refuse }));

  const decide = async (target: DecisionTarget): Promise<boolean> => {
    const ticket = ticketFor(target);
    if (!ticket) return false;
    await ask<void, { ticket: Ticket; target: DecisionTarget }>(
      (request) => actor.send({ type: 'DECIDE', request }),
      { ticket, target },
    );
    return true;
  };

  return {
    ledger,
    // What may be refused is looked at before the machine moves: an action that throws retires the actor.
    async submit(submission) {
      const twin = submission.run_id === undefined ? undefined : known(submission.run_id);
      if (twin) return acceptedBefore(twin);
      queue.refuseDuplicate(submission.dedupe_key, (execution ?? held)?.dispatch());
      const open = admission.openFor(submission);
      const continues = open !== undefined && admission.continues(submission);
      if (continues) deps.resolve(open.agent_id);
      if (submission.mode === 'sub_agent' && submission.into !== undefined && !continues)
        throw new NotFound(`run not found: ${submission.into}`);
      if (submission.mode === 'foreground') {
        const blocker = blockingBarrier(ledger.pending(), 'interrupt');
        if (blocker)
          throw new Conflict(
            `delivery blocked by barrier: pending '${blocker.pending_id}' must be consumed first`,
          );
      }
      if (submission.mode === 'interrupt_then_queue') {
        actor.send({ type: 'INTERRUPT', request: { done() {}, refuse() {} } satisfies Interrupt });
      }
      const type = EVENT_OF[submission.mode];
      return ask<Accepted, Submission>((request) => actor.send({ type, request }), submission);
    },
    async rested(run_id) {
      const waiting = ledger.waiting().get(run_id);
      if (execution?.run_id === run_id) return rests.wait(run_id);
      if (waiting) return waiting;
      await ledger.quiet();
      const run = store.runs.get(scope, run_id);
      return run?.status === 'done' ? run : undefined;
    },
    steer: () => execution?.steer(),
    told: (event) =>
      ask<void, TaskEvent & { into: string }>((request) => actor.send({ type: 'TASK_EVENT', request }), {
        ...event,
        into: event.run_id,
      }),
    expire(run_id) {
      const run = ledger.waiting().get(run_id);
      for (const target of run ? expiredDecisions(run, clock.now()) : []) decide(target).catch(() => {});
    },
    decide,
    cancellable: () =>
      execution?.run_id ??
      ledger.openRun()?.run_id ??
      [...ledger.waiting().keys()].at(-1) ??
      queue.find()?.run_id,
    cancel: (run_id) =>
      new Promise((done, refuse) => {
        actor.send({ type: 'CANCEL', request: { run_id, done, refuse } satisfies Cancel });
      }),
    interrupt() {
      const something = execution !== undefined || ledger.waiting().size > 0 || queue.size() > 0;
      return new Promise((resolve, refuse) => {
        const done = (superseded: number): void => resolve(something ? superseded : undefined);
        actor.send({ type: 'INTERRUPT', request: { done, refuse } satisfies Interrupt });
      });
    },
    wake,
    remove: (strategy) =>
      new Promise((resolve, refuse) => {
        actor.send({ type: 'DELETE', request: { strategy, done: resolve, refuse } satisfies Removal });
      }),
    renew() {
      const leaving = held && (held.dispatch().lease_until ?? 0) < clock.now();
      const { status, run_status } = execution?.dispatch() ?? {};
      // A run whose wait is being written has the longer lease already.
      const executes = status === 'Claimed' && run_status === 'running';
      if (!leaving && !executes) return;
      const write = ledger.open(clock.now());
      if (leaving) leaveHeld(write);
      if (executes) execution?.renew(write);
      commitInBackground(write);
    },
    release(reason) {
      clearTimeout(alarm);
      claimant?.refuse(new Unavailable(reason));
      claimant = undefined;
      execution?.release(reason);
      held?.drop();
    },
    executing: () => execution !== undefined,
    passive: () =>
      execution === undefined &&
      held === undefined &&
      queue.size() === 0 &&
      claimant === undefined &&
      rests.size() === 0 &&
      ledger.commits() === 0,
    close() {
      clearTimeout(alarm);
      gone();
    },
  };
};

/** A run that a tool call drove, in a process that is gone: nothing else takes it up. */
const leftUndriven = (ledger: Ledger, store: RuntimeDeps['store']): Run | undefined => {
  const active = ledger.record()?.thread.active_run_id;
  const run = active === undefined ? undefined : store.runs.get(ledger.scope, active);
  return run?.status === 'running' && run.dispatch_id === undefined ? run : undefined;
};

const runNamedBy = (request: Decision | TaskTold): string =>
  'ticket' in request ? request.ticket.run_id : request.run_id;

const acceptedBefore = ({ run_id, thread_id, dispatch_id = '', status }: Run): Accepted => ({
  run_id,
  thread_id,
  dispatch_id,
  status: status === 'created' ? 'queued' : 'running',
});

const EVENT_OF = {
  foreground: 'FOREGROUND',
  queue: 'QUEUE',
  live_then_queue: 'STEER',
  interrupt_then_queue: 'QUEUE',
  sub_agent: 'DRIVE',
  resume_open_run: 'CONTINUE',
} as const satisfies Record<Submission['mode'], string>;
