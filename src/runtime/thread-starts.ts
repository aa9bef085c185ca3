import { Conflict, NotFound } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { Admission } from './admission.ts';
import type { Channel } from './channel.ts';
import type { Execution, ExecutionInput } from './execution.ts';
import type { Write } from './ledger.ts';
import type { Accepted } from './submission.ts';
import type { Host, Input } from './thread-machine.ts';
import { OVERTAKEN, type ThreadParts } from './thread-parts.ts';
import { nextStepOf } from './wake.ts';

/** How work comes to a thread: started at once, queued, delivered to what executes, or claimed when that has ended. */

export type Starts = Pick<
  Host,
  | 'startRun'
  | 'replaceOpen'
  | 'continueRun'
  | 'enqueue'
  | 'enqueueForeground'
  | 'enqueueInstead'
  | 'enqueueContinuation'
  | 'deliver'
  | 'refuse'
  | 'startNext'
  | 'holdClaimant'
  | 'startClaimant'
  | 'refuseClaimant'
> & {
  /** A foreground run that waits for the end of another one. */
  isClaimed(): boolean;
  refuseClaim(error: Error): void;
};

export type Launch = (
  input: Pick<ExecutionInput, 'agent' | 'run' | 'dispatch' | 'channel' | 'isHeard' | 'from'>,
  write: Write,
) => Execution;

type StartDeps = {
  launch: Launch;
  endWait(write: Write, run: Run): void;
  /** Nothing was there to be started after all. */
  nothingStarted(): void;
  /** The next queued work may be due at another time now. */
  armAlarm(): void;
};

const BUSY = 'thread has an active run; cannot claim inline';

export const createStarts = (
  { id, ledger, queue, admission, occupancy, open, commitInBackground }: ThreadParts,
  { launch, endWait, nothingStarted, armAlarm }: StartDeps,
): Starts => {
  let claimant: Input | undefined;

  const commitAnswering = (
    write: Write,
    request: Input,
    accepted: Omit<Accepted, 'thread_id'>,
    whenDurable = (): void => {},
  ): void => {
    write.commit('input').then(() => {
      whenDurable();
      request.accept({ ...accepted, thread_id: id });
    }, request.refuse);
  };

  const begin = (
    request: Input,
    prepared: ReturnType<Admission['prepare']>,
    write: Write,
    channel: Channel,
  ): void => {
    const started = launch({ ...prepared, channel, isHeard: false }, write);
    const { run, dispatch } = prepared;
    const accepted = { run_id: run.run_id, dispatch_id: dispatch.dispatch_id, status: 'running' } as const;
    commitAnswering(write, request, accepted, channel.release);
    started.start();
  };

  const startRun = (request: Input, instead?: Run): void => {
    const write = open();
    if (request.mode === 'foreground') {
      write.bumpEpoch();
      queue.withdraw(write, OVERTAKEN);
    }
    if (instead) endWait(write, instead);
    occupancy.leave(write);
    begin(request, admission.prepare(write, request), write, admission.channelFor(request));
  };

  /** As `startRun`, when it is its turn: it begins with what it overtakes gone, and its readers wait with it. */
  const enqueueForeground = (request: Input, instead?: Run): void => {
    const write = open();
    write.bumpEpoch();
    queue.withdraw(write, OVERTAKEN);
    if (instead) endWait(write, instead);
    const { run_id, dispatch_id } = admission.enqueue(write, request);
    commitAnswering(write, request, { run_id, dispatch_id, status: 'queued' });
    armAlarm();
  };

  const openFor = (request: Input): Run => {
    const run = admission.openFor(request);
    if (!run) throw new Conflict(`no run of thread '${id}' waits`);
    return run;
  };

  const takeClaimant = (): Input | undefined => {
    const taken = claimant;
    claimant = undefined;
    return taken;
  };

  const refuseClaim = (error: Error): void => takeClaimant()?.refuse(error);

  return {
    startRun: (request) => startRun(request),
    replaceOpen: (request) => startRun(request, ledger.openRun()),
    continueRun(request) {
      const run = openFor(request);
      const write = open();
      occupancy.leave(write);
      const prepared = admission.prepareContinuation(write, request, run);
      begin(request, prepared, write, admission.channelFor(request));
    },
    enqueue(request) {
      const write = open();
      const { run_id, dispatch_id } = admission.enqueue(write, request);
      commitAnswering(write, request, { run_id, dispatch_id, status: 'queued' });
      armAlarm();
    },
    enqueueForeground: (request) => enqueueForeground(request),
    enqueueInstead: (request) => enqueueForeground(request, ledger.openRun()),
    enqueueContinuation(request) {
      const run = openFor(request);
      const write = open();
      occupancy.leave(write);
      const { dispatch_id } = admission.enqueueContinuation(write, request, run);
      commitAnswering(write, request, { run_id: run.run_id, dispatch_id, status: 'queued' });
      armAlarm();
    },
    deliver(request) {
      const { active } = occupancy;
      if (!active) throw new Conflict(`no run of thread '${id}' executes`);
      const { run_id } = active;
      const { dispatch_id } = active.dispatch();
      const write = open();
      admission.stageFor(write, request, nextStepOf(run_id));
      commitAnswering(write, request, { run_id, dispatch_id, status: 'running' });
      active.steer();
    },
    refuse(request) {
      const run_id = ledger.record()?.thread.open_run_id;
      request.refuse(new NotFound(`run not found: ${run_id ?? `open run for thread ${id}`}`));
    },
    /** Takes the next dispatch that may start. One that turns out to be void is settled, and the next one is tried. */
    startNext() {
      const write = open();
      occupancy.leave(write);
      const claimed = queue.take(write);
      const started = claimed && launch({ ...claimed, ...admission.channelOf(claimed.run) }, write);
      commitInBackground(write);
      if (started) started.start();
      else nothingStarted();
    },
    holdClaimant(request) {
      claimant = request;
    },
    startClaimant() {
      const request = takeClaimant();
      if (!request) return nothingStarted();
      try {
        startRun(request);
      } catch (error) {
        // The event was not its own: nobody else knows of it any more.
        request.refuse(error);
        throw error;
      }
    },
    refuseClaimant: () => refuseClaim(new Conflict(BUSY)),
    isClaimed: () => claimant !== undefined,
    refuseClaim,
  };
};
