import { isTerminalOrInterrupted } from '../../../machines/a2a-task.ts';
import type { EventStream } from '../../http/sse.ts';
import type { Access } from '../../identity/access/access.ts';
import type { Accept } from '../../schema/idempotency.ts';
import { taskStateOf } from '../../schema/task-state.ts';
import { timerMs } from '../../schema/timer.ts';
import type { TimedRun } from '../../store/index.ts';
import type { SendRequest } from './decode.ts';
import { taskNotFound } from './errors.ts';
import type { Task } from './model.ts';
import { timestampOf } from './projection.ts';
import { createTaskStream } from './stream.ts';
import {
  type AcceptedTask,
  type AdmissionDeps,
  createTaskAdmission,
  type TaskReceipt,
} from './task-admission.ts';
import type { Follower, TaskEvent } from './task-feed.ts';

/** Implements message:send and message:stream (a2a.md 7.6, 10.1). A task continues if its client disconnects. */

export type SendDeps = AdmissionDeps & {
  access: Pick<Access, 'reading'>;
  settings: {
    /** 0 means no limit. */
    a2a_blocking_wait_ms: number;
  };
};

export type Sends = {
  /** @param hold called if the response may take long @throws A2aError 400, 404 */
  send(
    scope: string,
    request: SendRequest,
    of: { hold(): void; keyed: Accept<TaskReceipt> | undefined },
  ): Promise<Task>;
  /** @throws A2aError 400, 404 */
  stream(scope: string, request: SendRequest, keyed: Accept<TaskReceipt> | undefined): Promise<EventStream>;
  /** Responds to the repeat of an accepted request. @throws A2aError 404 */
  sendAgain(scope: string, request: SendRequest, receipt: TaskReceipt, hold: () => void): Promise<Task>;
  /** The same with the stream of the task from its acceptance on. @throws A2aError 403, 404 */
  streamAgain(scope: string, request: SendRequest, receipt: TaskReceipt): EventStream;
  /** Responds to every waiting send with its current task; the task continues after a restart. */
  stop(): void;
};

export const createSends = (deps: SendDeps): Sends => {
  const { access } = deps;
  const { accept } = createTaskAdmission(deps);
  const views = createViews(deps.tasks);
  const held = createHeld(deps, views);
  return {
    async send(scope, request, { hold, keyed }) {
      if (request.returns_at_once)
        return views.initial(scope, await accept(scope, request, { keyed }), request);
      hold();
      return held.stopped(scope, request, (follower) => accept(scope, request, { follower, keyed }));
    },
    async sendAgain(scope, request, receipt, hold) {
      if (request.returns_at_once) return views.submitted(scope, receipt, request);
      hold();
      return held.stopped(scope, request, async (follower) => join(deps, scope, receipt, follower));
    },
    async stream(scope, request, keyed) {
      const { follower, open } = createTaskStream(isTerminalOrInterrupted);
      const accepted = await accept(scope, request, { follower, keyed });
      const task = views.initial(scope, accepted, request);
      const thread = { scope, id: views.found(scope, accepted.task_id).run.thread_id };
      const stream = open(task, access.reading('thread', thread, 'write', request.agent_id));
      stream.onClose(accepted.stop);
      if (accepted.repeated && isTerminalOrInterrupted(task.status.state)) stream.end();
      return stream;
    },
    streamAgain: (scope, request, receipt) => streamAgain({ ...deps, views }, scope, { request, receipt }),
    stop: held.stop,
  };
};

type Views = ReturnType<typeof createViews>;

/** Tasks as responses show them. */
const createViews = (tasks: SendDeps['tasks']) => {
  const found = (scope: string, task_id: string): TimedRun => {
    const run = tasks.find(scope, task_id);
    if (!run) throw taskNotFound(task_id);
    return run;
  };

  /** Returns the task as it was when its message was accepted, regardless of later progress. */
  const submitted = (
    scope: string,
    { task_id, accepted_at, message_id: upTo }: TaskReceipt,
    { history_length: history }: SendRequest,
  ): Task => {
    const task = tasks.projection.task(scope, found(scope, task_id), { history, artifacts: false, upTo });
    return { ...task, status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestampOf(accepted_at) } };
  };

  /** Returns the current task. */
  const current = (scope: string, task_id: string, { history_length: history }: SendRequest): Task =>
    tasks.projection.task(scope, found(scope, task_id), { history, artifacts: true });

  const initial = (scope: string, accepted: AcceptedTask, request: SendRequest): Task =>
    accepted.repeated ? current(scope, accepted.task_id, request) : submitted(scope, accepted, request);

  return { found, submitted, current, initial };
};

type NewFollower = Omit<Follower, 'at'>;

/** Sends whose response follows the end of their task. */
const createHeld = ({ settings }: Pick<SendDeps, 'settings'>, { current }: Views) => {
  const waiting = new Set<{ end(): void }>();
  return {
    /** Returns the task once it has stopped. */
    async stopped(
      scope: string,
      request: SendRequest,
      accept: (follower: NewFollower) => Promise<AcceptedTask>,
    ): Promise<Task> {
      const rest = createRest(settings.a2a_blocking_wait_ms);
      const { task_id, repeated, stop } = await accept(rest);
      // A task that stopped earlier sends no further events.
      if (repeated && isTerminalOrInterrupted(current(scope, task_id, request).status.state)) rest.end();
      waiting.add(rest);
      try {
        await rest.reached();
      } finally {
        waiting.delete(rest);
        stop();
      }
      return current(scope, task_id, request);
    },
    stop() {
      for (const rest of waiting) rest.end();
    },
  };
};

/** Joins an accepted task. */
const join = (
  { tasks }: Pick<SendDeps, 'tasks'>,
  scope: string,
  receipt: TaskReceipt,
  follower: NewFollower,
) => ({ ...receipt, ...tasks.follow(scope, receipt.task_id, follower), repeated: true });

/** Streams an accepted task from its first state on. Its states in between are omitted. */
const streamAgain = (
  { tasks, access, views }: Pick<SendDeps, 'tasks' | 'access'> & { views: Views },
  scope: string,
  { request, receipt }: { request: SendRequest; receipt: TaskReceipt },
): EventStream => {
  const at = views.found(scope, receipt.task_id);
  const thread = { scope, id: at.run.thread_id };
  const reading = access.reading('thread', thread, 'write', request.agent_id);
  if (!reading.isAllowed(request.principal)) throw taskNotFound(receipt.task_id);
  const { follower, open } = createTaskStream(isTerminalOrInterrupted);
  const following = join({ tasks }, scope, receipt, follower);
  const stream = open(views.submitted(scope, receipt, request), reading);
  stream.onClose(following.stop);
  const isOver = taskStateOf(at.run) === 'TASK_STATE_COMPLETED';
  const artifact = isOver ? tasks.projection.artifact(scope, at.run) : following.artifact();
  const status: TaskEvent = { statusUpdate: tasks.projection.update(scope, at) };
  const about = { taskId: receipt.task_id, contextId: thread.id };
  const sent: TaskEvent[] = artifact
    ? [{ artifactUpdate: { ...about, artifact, append: false, lastChunk: isOver } }]
    : [];
  // An artifact precedes the status that ends the task, and follows that of its execution.
  for (const event of isOver ? [...sent, status] : [status, ...sent])
    follower.take(event, () => JSON.stringify(event));
  return stream;
};

/** Waits until the task stops, up to a time limit. */
const createRest = (ceilingMs: number) => {
  let resolve = (): void => {};
  let reject = (_error: unknown): void => {};
  const rested = new Promise<void>((...settle) => {
    [resolve, reject] = settle;
  });
  // The failure may occur before a caller awaits it.
  rested.catch(() => {});
  return {
    pieces: false,
    take(event: TaskEvent) {
      if ('statusUpdate' in event && isTerminalOrInterrupted(event.statusUpdate.status.state)) resolve();
    },
    fail: (error: unknown) => reject(error),
    end: () => resolve(),
    async reached(): Promise<void> {
      const timer = ceilingMs === 0 ? undefined : setTimeout(resolve, timerMs(ceilingMs)).unref();
      try {
        await rested;
      } finally {
        clearTimeout(timer);
      }
    },
  };
};
