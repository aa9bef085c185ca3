import type { RunMode } from '../../schema/activation.ts';
import type { Message } from '../../schema/message.ts';
import { Conflict, NotFound } from '../../schema/outcome.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { nextStepOf } from '../delegation/wake.ts';
import { openRunOf } from '../ledger/ledger.ts';
import { bumpEpoch, stage, type Write } from '../ledger/transaction.ts';
import { noteInput, steerRun } from '../run/control.ts';
import { clearAll } from './cancel.ts';
import { commitInput } from './commit-input.ts';
import { countRun } from './exhausted.ts';
import { launchInput } from './launch.ts';
import { isOfUser } from './open-run.ts';
import { attachTo } from './pending-readers.ts';
import { withdrawWork } from './queue.ts';
import type { Input, Refusable } from './request-types.ts';
import {
  type Continuation,
  type NewRun,
  type ScheduledRun,
  scheduleContinuation,
  scheduleNewRun,
} from './schedule-run.ts';
import { detachSuspended, SUPERSEDED, type Thread, writeNow } from './state.ts';
import { type ImportedMessage, userMessage } from './submission.ts';
import { armAlarm } from './timer.ts';
import { endWait } from './waiting-runs.ts';

/**
 * Accepts input as the machine of the thread has decided: it starts or continues a run at once, is queued, or joins the
 * executing run. Each of these actions ends earlier work if it must, schedules the run, and commits both together.
 */

export function startRun(thread: Thread, request: Input): void {
  const write = writeNow(thread);
  if (request.mode === 'foreground') supersedeQueue(thread, write);
  startIn(thread, write, request);
}

/** Ends the open run and starts another one in its place. */
export function replaceOpen(thread: Thread, request: Input): void {
  const write = writeNow(thread);
  supersedeQueue(thread, write);
  endOpen(thread, write);
  startIn(thread, write, request);
}

/** Drops waiting and queued work, and starts the run in its place. */
export function startCleared(thread: Thread, request: Input): void {
  const write = writeNow(thread);
  clearAll(thread, write);
  startIn(thread, write, request);
}

/** Continues the waiting run with the input at once: decisions first, then the messages. */
export function continueRun(thread: Thread, request: Input): void {
  const open = continuedBy(thread, request);
  const agent = thread.deps.resolve(open.agent_id, open.resolution_id);
  const write = writeNow(thread);
  detachSuspended(thread, write);
  const mode = request.mode === 'foreground' ? 'foreground' : 'resume';
  const scheduled = scheduleContinuation(
    thread,
    write,
    continuationFor(thread, request, { open, now: true, mode }),
  );
  launchInput(thread, write, { request, agent, ...scheduled });
}

/** Queues a new run. */
export function enqueue(thread: Thread, request: Input): void {
  queueIn(thread, writeNow(thread), request);
}

/** Like `startRun`, but queued: the superseded work ends now, and the readers wait with the run. */
export function enqueueForeground(thread: Thread, request: Input): void {
  const write = writeNow(thread);
  supersedeQueue(thread, write);
  queueIn(thread, write, request);
}

/** Like `replaceOpen`, but queued. */
export function enqueueInstead(thread: Thread, request: Input): void {
  const write = writeNow(thread);
  supersedeQueue(thread, write);
  endOpen(thread, write);
  queueIn(thread, write, request);
}

/** Like `startCleared`, but queued. */
export function enqueueCleared(thread: Thread, request: Input): void {
  const write = writeNow(thread);
  clearAll(thread, write);
  queueIn(thread, write, request);
}

/** Queues the continuation of the waiting run with the input. */
export function enqueueContinuation(thread: Thread, request: Input): void {
  const open = continuedBy(thread, request);
  const write = writeNow(thread);
  detachSuspended(thread, write);
  const work = continuationFor(thread, request, { open, now: false, mode: 'resume' });
  commitQueued(thread, write, request, scheduleContinuation(thread, write, work));
}

/** Adds the input to the executing run, for its next step. */
export function deliver(thread: Thread, request: Input): void {
  const { active } = thread;
  if (!active) throw new Conflict(`no run of thread '${thread.id}' executes`);
  const write = writeNow(thread);
  stage(write, messagesOf(thread, request), nextStepOf(active.run_id));
  noteInput(active, write);
  commitInput(write, request, { run: active.run, dispatch: active.dispatch, status: 'running' });
  steerRun(active);
}

export function refuse({ ledger, id }: Thread, request: Refusable): void {
  const run_id = ledger.record?.thread.open_run_id;
  request.refuse(new NotFound(`run not found: ${run_id ?? `open run for thread ${id}`}`));
}

/** Starts a new run with the input, in a write that has ended the work it replaces. */
function startIn(thread: Thread, write: Write, request: Input): void {
  detachSuspended(thread, write);
  const isForeground = request.mode === 'foreground' || request.mode === 'sub_agent';
  const mode = isForeground ? 'foreground' : 'scheduled';
  const scheduled = scheduleNewRun(thread, write, newRunFor(thread, request, { now: true, mode }));
  countRun(thread.deps, write.batch, { scope: thread.scope, run: scheduled.run, agent: request.agent });
  launchInput(thread, write, { request, agent: request.agent, ...scheduled });
}

/** Queues a new run with the input, in a write that has ended the work it replaces. */
function queueIn(thread: Thread, write: Write, request: Input): void {
  const work = newRunFor(thread, request, { now: false, mode: 'scheduled' });
  const scheduled = scheduleNewRun(thread, write, work);
  countRun(thread.deps, write.batch, { scope: thread.scope, run: scheduled.run, agent: request.agent });
  commitQueued(thread, write, request, scheduled);
}

function commitQueued(thread: Thread, write: Write, request: Input, { run, dispatch }: ScheduledRun): void {
  if (request.attach) attachTo(thread.readers, run.run_id, request.attach);
  commitInput(write, request, { run, dispatch, status: 'queued' });
  armAlarm(thread);
}

/** Supersedes all queued work by starting a new epoch. */
function supersedeQueue({ queue }: Thread, write: Write): void {
  bumpEpoch(write);
  withdrawWork(queue, write, SUPERSEDED);
}

function endOpen(thread: Thread, write: Write): void {
  const open = openRunOf(thread.ledger);
  if (open) endWait(thread, write, open);
}

function continuedBy({ id }: Thread, { continues }: Input): RunRecord {
  if (!continues) throw new Conflict(`no run of thread '${id}' waits`);
  return continues;
}

function newRunFor(thread: Thread, request: Input, { now, mode }: { now: boolean; mode: RunMode }): NewRun {
  const { agent, origin, adapter, parent, context, rewind, extraWrites } = request;
  return {
    now,
    mode,
    run_id: request.run_id ?? thread.deps.ids.uuid(),
    agent_id: agent.spec.id,
    resolution_id: agent.resolution_id,
    agent_version: agent.version,
    origin,
    adapter,
    parent,
    context,
    rewind,
    history: request.history && importedMessages(thread, request.history),
    thread: request.thread,
    messages: messagesOf(thread, request),
    options: request,
    driven: request.mode === 'sub_agent',
    dispatch: request,
    extraWrites,
    by: request.by,
  };
}

function continuationFor(
  thread: Thread,
  request: Input,
  { open, now, mode }: { open: RunRecord; now: boolean; mode: RunMode },
): Continuation {
  const { decided, extraWrites } = request;
  return {
    now,
    mode,
    open,
    decided,
    messages: messagesOf(thread, request),
    thread: request.thread,
    // A decision of another user does not change what the run may do.
    ...(isOfUser(open, request) && { options: request }),
    driven: request.mode === 'sub_agent',
    dispatch: request,
    extraWrites,
  };
}

function importedMessages({ deps }: Thread, history: readonly ImportedMessage[]): Message[] {
  return history.map((message) => ({ id: deps.ids.uuid(), ...message }));
}

function messagesOf({ deps }: Thread, { messages }: Input): Message[] {
  return messages.map((message) => userMessage(deps.ids.uuid(), message));
}
