import { isTerminalOrInterrupted } from '../../../machines/a2a-task.ts';
import type { EventStream } from '../../http/sse.ts';
import type { Access } from '../../identity/access/access.ts';
import { timerMs } from '../../schema/timer.ts';
import type { TimedRun } from '../../store/index.ts';
import type { SendRequest } from './decode.ts';
import { taskNotFound } from './errors.ts';
import type { Task } from './model.ts';
import { timestampOf } from './projection.ts';
import { createTaskStream } from './stream.ts';
import { type AcceptedTask, type AdmissionDeps, createTaskAdmission } from './task-admission.ts';
import type { TaskEvent } from './task-feed.ts';

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
  send(scope: string, request: SendRequest, hold: () => void): Promise<Task>;
  /** @throws A2aError 400, 404 */
  stream(scope: string, request: SendRequest): Promise<EventStream>;
  /** Responds to every waiting send with its current task; the task continues after a restart. */
  stop(): void;
};

export const createSends = (deps: SendDeps): Sends => {
  const { access, tasks, settings } = deps;
  const { accept } = createTaskAdmission(deps);
  const waiting = new Set<{ end(): void }>();

  const found = (scope: string, task_id: string): TimedRun => {
    const run = tasks.find(scope, task_id);
    if (!run) throw taskNotFound(task_id);
    return run;
  };

  /** Returns the task as it was when its message was accepted, regardless of later progress. */
  const submitted = (
    scope: string,
    { task_id, accepted_at, message_id: upTo }: AcceptedTask,
    { history_length: history }: SendRequest,
  ): Task => {
    const task = tasks.projection.task(scope, found(scope, task_id), { history, artifacts: false, upTo });
    return { ...task, status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestampOf(accepted_at) } };
  };

  /** Returns the current task. */
  const current = (scope: string, task_id: string, { history_length: history }: SendRequest): Task =>
    tasks.projection.task(scope, found(scope, task_id), { history, artifacts: true });

  const initialTask = (scope: string, accepted: AcceptedTask, request: SendRequest): Task =>
    accepted.repeated ? current(scope, accepted.task_id, request) : submitted(scope, accepted, request);

  return {
    async send(scope, request, hold) {
      if (request.returns_at_once) return initialTask(scope, await accept(scope, request), request);
      const rest = createRest(settings.a2a_blocking_wait_ms);
      hold();
      const { task_id, repeated, stop } = await accept(scope, request, rest);
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
    async stream(scope, request) {
      const { follower, open } = createTaskStream(isTerminalOrInterrupted);
      const accepted = await accept(scope, request, follower);
      const task = initialTask(scope, accepted, request);
      const thread = { scope, id: found(scope, accepted.task_id).run.thread_id };
      const stream = open(task, access.reading('thread', thread, 'write', request.agent_id));
      stream.onClose(accepted.stop);
      if (accepted.repeated && isTerminalOrInterrupted(task.status.state)) stream.end();
      return stream;
    },
    stop() {
      for (const rest of waiting) rest.end();
    },
  };
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
