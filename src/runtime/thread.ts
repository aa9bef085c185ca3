import { createActor } from 'xstate';
import type { ThreadEvent } from '../../machines/thread.ts';
import { createCompactors } from '../loop/compactors.ts';
import { Conflict, NotFound, Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import { awaitsTasks } from '../schema/run-state.ts';
import { createAdmission } from './admission.ts';
import type { Attach, Channel } from './channel.ts';
import { type ChildRuns, createRests } from './child-runs.ts';
import type { RuntimeDeps } from './deps.ts';
import { finishOf } from './ending.ts';
import { createExecution } from './execution.ts';
import { expiredDecisions } from './expiry.ts';
import { createLedger, type Ledger, type Write } from './ledger.ts';
import { tellLeftTasks } from './left-tasks.ts';
import { createMail, type Peers } from './mail.ts';
import { Occupancy } from './occupancy.ts';
import { blockingBarrier } from './pending.ts';
import { createQueue } from './queue.ts';
import type { BoundRunMachine } from './run-services.ts';
import type { Slot } from './slots.ts';
import { isStandIn } from './stand-in.ts';
import type { Accepted, DecisionTarget, Submission } from './submission.ts';
import type { TaskBoard, TaskEvent } from './tasks.ts';
import { createEnds } from './thread-ends.ts';
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
import type { ThreadParts } from './thread-parts.ts';
import { createStarts, type Launch } from './thread-starts.ts';
import { isAnswerTo, type ThreadView, viewOf } from './thread-view.ts';
import { createWaits } from './thread-waits.ts';
import { refuseUnsupported } from './unsupported.ts';

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
  /** The thread of this moment, for a request that is read and submitted in the same turn. */
  view(): ThreadView;
  /** Resolves when the run is done or waits for somebody; without the run when this process has let go of it. */
  rested(run_id: string): Promise<Run | undefined>;
  /** A reader for a run that executes or waits for its turn. False when it is at rest. */
  follow(run_id: string, attach: Attach): boolean;
  /** Input was staged for whatever executes here. */
  steer(): void;
  /** Resolves when the decision is durable; false when no such ticket is open. */
  decide(target: DecisionTarget): Promise<boolean>;
  /** A task of one of its runs has told something. Resolves when that is durable, or for nobody. */
  told(event: TaskEvent): Promise<void>;
  /** Tickets of a waiting run whose time is over are decided as they say. */
  expire(run_id: string): Promise<void>;
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
  /** Gives back what executes and what is held: the next start takes it up again. */
  release(reason: string): void;
  isExecuting(): boolean;
  /** What executes has failed, and waits for its next attempt. */
  isPausing(): boolean;
  /** Readers of a run that an earlier actor of the thread let go of, if they are somebody's. */
  adopt(run_id: string, channel: Channel): void;
  /**
   * Nothing executes, is held, is queued (but behind other threads) or is being written, and nobody waits to read:
   * the actor may be dropped and made again.
   */
  isPassive(): boolean;
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
  slot: Slot;
  /** How often the actors before it failed, one after the other, and whether it was their own fault. */
  past: Past;
  /** The actor must not be used again; another one may be made once `quiet` resolves. */
  onRetired(quiet: Promise<void>, past?: Past): void;
  /** The run goes on with another actor, and so do its readers. */
  onStreamLeft(run_id: string, channel: Channel): void;
  /** It may have become passive. */
  onSettled(): void;
  children: ChildRuns;
};

/** `counts`: the work itself may be why, so that trying it again is an attempt. */
export type Past = { failures: number; counts: boolean };

export const NO_PAST: Past = { failures: 0, counts: false };

export const createThreadActor = (deps: RuntimeDeps, options: ThreadOptions): ThreadActor => {
  const { clock, ids, store } = deps;
  const { scope, id } = options;
  let alarm: NodeJS.Timeout | undefined;

  const { slot } = options;
  let { failures } = options.past;

  const occupancy = new Occupancy(slot);
  const rests = createRests();

  /** Whether the work itself may be why the actor fails. */
  let isOwnFault = true;

  /** Work is left, for another actor; readers of what executed or was to execute go on with it. */
  const leave = (): void => {
    clearTimeout(alarm);
    rests.letGo();
    starts.refuseClaim(new Unavailable(LET_GO));
    for (const run_id of admission.unread())
      options.onStreamLeft(run_id, admission.channelOf({ run_id }).channel);
    slot.giveBack();
    const quiet = ledger.quiet().then(() => occupancy.vacant());
    // What it waited for is told to nobody.
    const stop = (): void => void actor.stop();
    void quiet.then(stop, stop);
    options.onRetired(quiet, { failures: failures + 1, counts: isOwnFault });
  };

  const retire = (error: unknown): void => {
    const isStore = error instanceof Unavailable;
    if (isStore) deps.log.warn({ thread_id: id, reason: error.message }, MADE_AGAIN);
    else deps.log.error({ err: error, thread_id: id }, MADE_AGAIN);
    isOwnFault = !isStore || failures >= deps.settings.mailbox.max_attempts;
    occupancy.active?.abandon();
    occupancy.held?.drop();
    leave();
  };

  const ledger = createLedger(
    {
      store,
      ids,
      events: deps.events,
      runs: deps.runs,
      observe: deps.observe,
      onStored(run) {
        options.children.stored(run);
        if (run.status === 'done') admission.dismiss(run);
        if (run.status === 'done' && !rests.tell(run.run_id, run)) options.children.ended(run);
      },
      onRunDone: (run_id) => options.tasks.endRun(scope, run_id),
      onRunWritten: (after, before) => tellLeftTasks(deps, after, before),
      onFailure: retire,
      onQuiet: options.onSettled,
      onDeafListener: (error) =>
        deps.log.error({ err: error, thread_id: id }, 'what was committed could not be told'),
    },
    scope,
    id,
  );
  const queue = createQueue(deps, ledger);
  const admission = createAdmission(deps, ledger, queue);
  const compactors = createCompactors({ clock, ids });

  const commitInBackground = (write: Write): void => {
    write.commit('progress').catch(() => {});
  };

  const parts: ThreadParts = {
    deps,
    scope,
    id,
    ledger,
    queue,
    admission,
    occupancy,
    open: () => ledger.open(clock.now()),
    commitInBackground,
  };

  const launch: Launch = (input, write) => {
    const { run_id, parent_run_id } = input.run;
    const next = createExecution(deps, options.runMachine, {
      ...input,
      ledger,
      compactor: compactors(input.agent),
      tasks: options.tasks.of({ scope, thread_id: id, run_id, inPlace: parent_run_id !== null }),
      mail: createMail(deps, options.peers, { scope, thread_id: id, run: input.run }),
      onProgress() {
        failures = 0;
      },
      onParked() {
        occupancy.park(next);
        rests.tell(run_id, next.run());
        vacated('RUN_PARKED');
      },
      onSettled(how) {
        occupancy.gone(next);
        // A run that was let go belongs to whoever claims its dispatch next, and so does the thread.
        if (how === 'released') leave();
        else vacated('RUN_ENDED');
      },
      onStreamLeft: (channel) => options.onStreamLeft(run_id, channel),
      onLeftover: (write, entries) => admission.leaveOver(write, entries, next),
    });
    occupancy.begin(next);
    next.announce(write);
    return next;
  };

  /** What executed does so no more. */
  const vacated = (type: 'RUN_PARKED' | 'RUN_ENDED'): void => {
    failures = 0;
    actor.send({ type });
    occupancy.vacate();
    armAlarm();
    options.onSettled();
  };

  /** Whatever is queued starts when it is due: at its time, or when there is room for it. */
  const armAlarm = (): void => {
    clearTimeout(alarm);
    const next = queue.nextAt();
    if (next === undefined || occupancy.active || !options.accepting()) return;
    const delay = next - clock.now();
    if (delay <= 0 && !slot.isFree()) slot.lineUp();
    else alarm = setTimeout(wake, Math.max(0, delay)).unref();
  };

  const wake = (): void => {
    actor.send({ type: 'WAKE' });
    armAlarm();
  };

  const waits = createWaits(parts, {
    /** What was queued starts with the next event, unless there is no room for it. */
    lineUp() {
      if (!slot.isFree()) armAlarm();
    },
  });
  const starts = createStarts(parts, {
    launch,
    endWait: waits.endWait,
    nothingStarted: () => actor.send({ type: 'RUN_ENDED' }),
    armAlarm,
  });
  const ends = createEnds(parts, waits, (quiet) => options.onRetired(quiet));

  const answersActive = (submission: Submission): boolean =>
    occupancy.active !== undefined && isAnswerTo(occupancy.active.run_id, submission);

  const host: Host = {
    hasQueued: () => options.accepting() && queue.ready(clock.now()) && slot.isFree(),
    isFull: () => !slot.isFree(),
    hasWaiting: () => ledger.waiting().size > 0,
    continuesOpenRun: (request) =>
      admission.continues(request as Input) &&
      admission.openFor(request as Input)?.run_id !== occupancy.active?.run_id,
    takesInput: (request) => {
      // A task event is for one run; other input may be.
      const { into } = request as Pick<Input, 'into'>;
      const { active } = occupancy;
      return active?.takesInput() === true && (into === undefined || into === active.run_id);
    },
    isDelayed: (request) => ((request as Input).available_at ?? 0) > clock.now(),
    answersActive: (request) => answersActive(request as Input),
    executes: (request) => (request as Decision).ticket.run_id === occupancy.active?.run_id,
    // A run that nobody drives any more goes on with a dispatch, as after a restart.
    holds: (request) => {
      const { held } = occupancy;
      return runNamedBy(request as Decision | TaskTold) === held?.run_id && !isStandIn(held.dispatch());
    },
    awaitsTasks: (request) => awaitsTasks(waits.restingRun((request as TaskTold).run_id)),
    ...starts,
    ...waits,
    ...ends,
  };

  const actor = createActor(options.threadMachine, { input: { host } });
  actor.subscribe({ error: retire });
  const gone = deps.actors.began(actor, { machine: 'thread', id, scope });
  const undriven = leftUndriven(ledger, store);
  if (queue.orphaned() || undriven) {
    const write = parts.open();
    if (undriven) waits.endWait(write, undriven);
    queue.reclaim(write, options.past.counts);
    commitInBackground(write);
    options.children.endStrays();
  }
  actor.start();

  /** The service stops, and the run has not begun: its readers are told that it will go on without them. */
  const endUnread = (run_id: string, reason: string): void => {
    const run = known(run_id);
    const { channel } = admission.channelOf({ run_id });
    if (run) channel.emit(finishOf(run, { type: 'error', value: reason }));
    channel.close();
  };

  /** The run of this id, also one that the store does not have yet. */
  const known = (run_id: string): Run | undefined =>
    occupancy.active?.run_id === run_id
      ? occupancy.active.run()
      : (ledger.created().get(run_id) ?? store.runs.get(scope, run_id));

  /** What may be refused is looked at before the machine moves: an action that throws retires the actor. */
  const refuseInput = (submission: Submission): void => {
    queue.refuseDuplicate(submission.dedupe_key, (occupancy.active ?? occupancy.held)?.dispatch());
    const open = admission.openFor(submission);
    const continues = open !== undefined && admission.continues(submission);
    const agent = continues ? deps.resolve(open.agent_id, open.resolution_id) : submission.agent;
    refuseUnsupported(agent, submission);
    if (submission.mode === 'sub_agent' && submission.into !== undefined && !continues)
      throw new NotFound(`run not found: ${submission.into}`);
    const blocker = submission.mode === 'foreground' && blockingBarrier(ledger.pending(), 'interrupt');
    if (blocker)
      throw new Conflict(
        `delivery blocked by barrier: pending '${blocker.pending_id}' must be consumed first`,
      );
  };

  /** An event at which the actor fails retires it; whoever asked for it must not wait for ever. */
  const ask = <Answer>(
    event: (accept: (answer: Answer) => void, refuse: (error: unknown) => void) => ThreadEvent,
  ): Promise<Answer> =>
    new Promise((accept, refuse) => {
      actor.send(event(accept, refuse));
      const { status, error } = actor.getSnapshot();
      if (status === 'error') refuse(error);
      // It was let go since it was looked up.
      if (status === 'stopped') refuse(new Unavailable(LET_GO));
    });

  const decide = async (target: DecisionTarget): Promise<boolean> => {
    const ticket = waits.ticketFor(target);
    if (!ticket) return false;
    await ask<void>((accept, refuse) => {
      const request: Decision = { ticket, target, accept, refuse };
      return { type: 'DECIDE', request };
    });
    return true;
  };

  return {
    ledger,
    view: () => viewOf(ledger, occupancy.active, known),
    async submit(submission) {
      const twin = submission.run_id === undefined ? undefined : known(submission.run_id);
      if (twin) return acceptedBefore(twin);
      if (!answersActive(submission)) refuseInput(submission);
      const type = EVENT_OF[submission.mode];
      return ask((accept, refuse) => {
        const request: Input = { ...submission, accept, refuse };
        return { type, request };
      });
    },
    async rested(run_id) {
      const waiting = ledger.waiting().get(run_id);
      if (occupancy.active?.run_id === run_id) return rests.wait(run_id);
      if (waiting) return waiting;
      await ledger.quiet();
      const run = store.runs.get(scope, run_id);
      return run?.status === 'done' ? run : undefined;
    },
    follow(run_id, attach) {
      if (occupancy.active?.run_id === run_id) return occupancy.active.follow(attach);
      if (!queue.find(run_id)) return false;
      admission.attachTo(run_id, attach);
      return true;
    },
    steer: () => occupancy.active?.steer(),
    told: (event) =>
      ask<void>((accept, refuse) => {
        const request: TaskTold & { into: string } = { ...event, into: event.run_id, accept, refuse };
        return { type: 'TASK_EVENT', request };
      }),
    async expire(run_id) {
      const run = ledger.waiting().get(run_id);
      await Promise.all(run ? expiredDecisions(run, clock.now()).map(decide) : []);
    },
    decide,
    cancellable: () =>
      occupancy.active?.run_id ??
      ledger.openRun()?.run_id ??
      [...ledger.waiting().keys()].at(-1) ??
      queue.find()?.run_id,
    cancel: (run_id) =>
      ask((done, refuse) => {
        const request: Cancel = { run_id, done, refuse };
        return { type: 'CANCEL', request };
      }),
    interrupt() {
      const something = occupancy.active !== undefined || ledger.waiting().size > 0 || queue.size() > 0;
      return ask((accept, refuse) => {
        const done = (superseded: number): void => accept(something ? superseded : undefined);
        const request: Interrupt = { done, refuse };
        return { type: 'INTERRUPT', request };
      });
    },
    wake,
    remove: (strategy) =>
      ask<void>((done, refuse) => {
        const request: Removal = { strategy, done, refuse };
        return { type: 'DELETE', request };
      }),
    renew() {
      const { active, held } = occupancy;
      const leaving = held && (held.dispatch().lease_until ?? 0) < clock.now();
      const { status, run_status } = active?.dispatch() ?? {};
      // A run whose wait is being written has the longer lease already.
      const executes = status === 'Claimed' && run_status === 'running';
      if (!leaving && !executes) return;
      const write = parts.open();
      if (leaving) occupancy.leave(write);
      if (executes) active?.renew(write);
      commitInBackground(write);
    },
    release(reason) {
      clearTimeout(alarm);
      starts.refuseClaim(new Unavailable(reason));
      for (const run_id of admission.unread()) endUnread(run_id, reason);
      occupancy.active?.release(reason);
      if (!occupancy.held || !ledger.isSound()) return;
      // The wait is durable, and needs nobody until it is over.
      const write = parts.open();
      occupancy.leave(write);
      commitInBackground(write);
    },
    isExecuting: () => occupancy.active !== undefined,
    isPausing: () => occupancy.active?.isPausing() === true,
    adopt(run_id, channel) {
      const run = known(run_id);
      admission.adopt(run_id, channel);
      if (!run) admission.channelOf({ run_id }).channel.close();
      // One that was executing goes on, or its end is under way.
      else if (run.status !== 'running' && !queue.find(run_id)) admission.dismiss(run);
    },
    isPassive: () =>
      occupancy.active === undefined &&
      occupancy.held === undefined &&
      (queue.size() === 0 || slot.isInLine()) &&
      !starts.isClaimed() &&
      !admission.isAwaited() &&
      rests.size() === 0 &&
      ledger.commits() === 0,
    close() {
      clearTimeout(alarm);
      gone();
    },
  };
};

const LET_GO = 'the thread was let go; try again';

const MADE_AGAIN = 'the thread is made again from the store';

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
  interrupt_then_queue: 'INTERRUPT_THEN_QUEUE',
  sub_agent: 'DRIVE',
  resume_open_run: 'CONTINUE',
} as const satisfies Record<Submission['mode'], string>;
