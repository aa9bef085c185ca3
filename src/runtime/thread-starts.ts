import { Conflict, NotFound } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { Channel } from './channel.ts';
import { openRunOf } from './ledger.ts';
import { type Claimed, claimNext, withdrawWork } from './queue.ts';
import { attachTo, channelOf, heldChannel, unread } from './readers.ts';
import type { Input, Refusable } from './requests.ts';
import { steerRun } from './run-control.ts';
import { startExecution } from './run-start.ts';
import type { Accepted } from './submission.ts';
import { commitInBackground, leaveHeld, OVERTAKEN, type Thread, writeNow } from './thread.ts';
import { armAlarm } from './thread-alarm.ts';
import { clearAll } from './thread-ends.ts';
import { launch } from './thread-launch.ts';
import { endWait } from './thread-waits.ts';
import { nextStepOf } from './wake.ts';
import { messagesOf, newRunFor, type Order, openFor, putWork, type Work } from './work.ts';
import { bumpEpoch, commit, stage, type Write } from './write.ts';

/** How work comes to a thread: started at once, queued, delivered to what executes, or claimed when that has ended. */

export const startRun = (thread: Thread, request: Input): void =>
  startWith(thread, request, (write) => {
    if (request.mode === 'foreground') overtakeQueue(thread, write);
  });

/** The open run is over; another one comes in its place. */
export const replaceOpen = (thread: Thread, request: Input): void =>
  startWith(thread, request, (write) => {
    overtakeQueue(thread, write);
    endOpen(thread, write);
  });

/** What waits or is queued goes, and the run comes in its place. */
export const startCleared = (thread: Thread, request: Input): void =>
  startWith(thread, request, (write) => void clearAll(thread, write));

const startWith = (thread: Thread, request: Input, makeRoom: (write: Write) => void): void => {
  const write = writeNow(thread);
  makeRoom(write);
  leaveHeld(thread, write);
  const driven = request.mode === 'sub_agent';
  const work = putWork(thread, write, {
    now: true,
    mode: driven || request.mode === 'foreground' ? 'foreground' : 'scheduled',
    run: newRunFor(thread, request),
    ...orderOf(thread, request),
  });
  beginFor(thread, request, write, { agent: request.agent, ...work });
};

/** The run that waits goes on with the input at once: decisions first, then the messages. */
export const continueRun = (thread: Thread, request: Input): void => {
  const open = waitingFor(thread, request);
  const agent = thread.deps.resolve(open.agent_id, open.resolution_id);
  const write = writeNow(thread);
  leaveHeld(thread, write);
  const work = putWork(thread, write, {
    now: true,
    mode: request.mode === 'foreground' ? 'foreground' : 'resume',
    run: { open, news: false },
    ...orderOf(thread, request),
  });
  beginFor(thread, request, write, { agent, ...work });
};

/** A run that waits for its turn. */
export const enqueue = (thread: Thread, request: Input): void => queueFor(thread, request, writeNow(thread));

/** As `startRun`, when it is its turn: it begins with what it overtakes gone, and its readers wait with it. */
export const enqueueForeground = (thread: Thread, request: Input): void => {
  const write = writeNow(thread);
  overtakeQueue(thread, write);
  queueFor(thread, request, write);
};

/** As `replaceOpen`, when it is its turn. */
export const enqueueInstead = (thread: Thread, request: Input): void => {
  const write = writeNow(thread);
  overtakeQueue(thread, write);
  endOpen(thread, write);
  queueFor(thread, request, write);
};

/** As `startCleared`, when it is its turn. */
export const enqueueCleared = (thread: Thread, request: Input): void => {
  const write = writeNow(thread);
  clearAll(thread, write);
  queueFor(thread, request, write);
};

/** The run that waits goes on with the input when it is its turn. */
export const enqueueContinuation = (thread: Thread, request: Input): void => {
  const open = waitingFor(thread, request);
  const write = writeNow(thread);
  leaveHeld(thread, write);
  const order: Order = {
    now: false,
    mode: 'resume',
    run: { open, news: false },
    ...orderOf(thread, request),
  };
  answerQueued(thread, request, write, putWork(thread, write, order));
};

/** Joins the run that executes, at its next step. */
export const deliverInput = (thread: Thread, request: Input): void => {
  const { active } = thread;
  if (!active) throw new Conflict(`no run of thread '${thread.id}' executes`);
  const { run_id } = active;
  const write = writeNow(thread);
  stage(write, messagesOf(thread, request), nextStepOf(run_id));
  const dispatch_id = active.dispatch?.dispatch_id ?? run_id;
  commitAnswering(thread, write, request, { run_id, dispatch_id, status: 'running' });
  steerRun(active);
};

export const refuse = ({ ledger, id }: Thread, request: Refusable): void => {
  const run_id = ledger.record?.thread.open_run_id;
  request.refuse(new NotFound(`run not found: ${run_id ?? `open run for thread ${id}`}`));
};

/** Takes the next dispatch that may start. One that turns out to be void is settled, and the next one is tried. */
export const startNext = (thread: Thread): void => {
  const write = writeNow(thread);
  leaveHeld(thread, write);
  const claimed = claimNext(thread.queue, write);
  const started = claimed && launchClaimed(thread, write, claimed);
  commitInBackground(write);
  if (started) startExecution(started);
  else nothingStarted(thread);
};

const launchClaimed = (thread: Thread, write: Write, claimed: Claimed) => {
  const { readers, deps, scope } = thread;
  const { run } = claimed;
  const isRead = unread(readers).includes(run.run_id);
  const { channel, isHeard } = channelOf(readers, run.run_id);
  if (!isRead) deps.resumed?.(scope, run)?.(channel);
  return launch(thread, write, { ...claimed, channel, isHeard });
};

/** Nothing was there to be started after all. */
const nothingStarted = ({ actor }: Thread): void => actor.send({ type: 'RUN_ENDED' });

export const holdClaimant = (thread: Thread, request: Input): void => {
  thread.claimant = request;
};

export const startClaimant = (thread: Thread): void => {
  const request = takeClaimant(thread);
  if (!request) {
    nothingStarted(thread);
    return;
  }
  try {
    startRun(thread, request);
  } catch (error) {
    // The event was not its own: nobody else knows of it any more.
    request.refuse(error);
    throw error;
  }
};

const BUSY = 'thread has an active run; cannot claim inline';

export const refuseClaimant = (thread: Thread, error: Error = new Conflict(BUSY)): void =>
  takeClaimant(thread)?.refuse(error);

const takeClaimant = (thread: Thread): Input | undefined => {
  const { claimant } = thread;
  thread.claimant = undefined;
  return claimant;
};

/** Whatever is queued belongs to an epoch that is over. */
const overtakeQueue = ({ queue }: Thread, write: Write): void => {
  bumpEpoch(write);
  withdrawWork(queue, write, OVERTAKEN);
};

const endOpen = (thread: Thread, write: Write): void => {
  const open = openRunOf(thread.ledger);
  if (open) endWait(thread, write, open);
};

const waitingFor = (thread: Thread, request: Input): Run => {
  const run = openFor(thread, request);
  if (!run) throw new Conflict(`no run of thread '${thread.id}' waits`);
  return run;
};

/** What a request gives to the work that it makes. */
const orderOf = (thread: Thread, request: Input) => ({
  messages: messagesOf(thread, request),
  decided: request.decided,
  frontend_tools: request.frontend_tools,
  overrides: request.overrides,
  output_schema: request.output_schema,
  driven: request.mode === 'sub_agent',
  dispatch: wantedOf(request),
  alongside: request.alongside,
});

const wantedOf = ({
  dispatch_id,
  priority,
  dedupe_key,
  available_at,
}: Input): NonNullable<Order['dispatch']> => ({
  ...(dispatch_id !== undefined && { dispatch_id }),
  ...(priority !== undefined && { priority }),
  ...(dedupe_key !== undefined && { dedupe_key }),
  ...(available_at !== undefined && { available_at }),
});

const queueFor = (thread: Thread, request: Input, write: Write): void => {
  const order: Order = {
    now: false,
    mode: 'scheduled',
    run: newRunFor(thread, request),
    ...orderOf(thread, request),
  };
  answerQueued(thread, request, write, putWork(thread, write, order));
};

const answerQueued = (thread: Thread, request: Input, write: Write, { run, dispatch }: Work): void => {
  const { run_id } = run;
  if (request.attach) attachTo(thread.readers, run_id, request.attach);
  const dispatch_id = dispatch?.dispatch_id ?? run_id;
  commitAnswering(thread, write, request, { run_id, dispatch_id, status: 'queued' });
  armAlarm(thread);
};

const beginFor = (
  thread: Thread,
  request: Input,
  write: Write,
  work: Work & { agent: Input['agent'] },
): void => {
  const { run, dispatch } = work;
  const channel = heldChannel(request.attach);
  const started = launch(thread, write, { channel, isHeard: false, ...work });
  const dispatch_id = dispatch?.dispatch_id ?? run.run_id;
  const accepted = { run_id: run.run_id, dispatch_id, status: 'running' } as const;
  commitAnswering(thread, write, request, accepted, channel);
  startExecution(started);
};

/** @param channel holds back what its readers hear until the input is durable */
const commitAnswering = (
  { id }: Thread,
  write: Write,
  request: Input,
  { run_id, dispatch_id, status }: Omit<Accepted, 'thread_id'>,
  channel?: Channel,
): void => {
  commit(write, 'input').then(() => {
    channel?.release();
    request.accept({ run_id, thread_id: id, dispatch_id, status });
  }, request.refuse);
};
