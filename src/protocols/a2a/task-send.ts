import { isAtRest } from '../../../machines/a2a-task.ts';
import type { EventStream } from '../../http/sse.ts';
import { timerMs } from '../../schema/timer.ts';
import type { TimedRun } from '../../store/index.ts';
import type { SendRequest } from './decode.ts';
import { taskNotFound } from './errors.ts';
import type { Task } from './model.ts';
import { timestampOf } from './projection.ts';
import { createTaskStream } from './stream.ts';
import { type AcceptedTask, type AdmissionDeps, createTaskAdmission } from './task-admission.ts';
import type { TaskEvent } from './task-feed.ts';

/** message:send and message:stream (a2a.md 7.6, 10.1). A client that goes away leaves its task alone. */

export type SendDeps = AdmissionDeps & {
  settings: {
    /** 0: as long as it takes */
    a2a_blocking_wait_ms: number;
  };
};

export type Sends = {
  /** @param hold called when the answer may take long @throws A2aError 400, 404 */
  send(scope: string, asked: SendRequest, hold: () => void): Promise<Task>;
  /** @throws A2aError 400, 404 */
  stream(scope: string, asked: SendRequest): Promise<EventStream>;
  /** Answers every send that still waits with its task as it is now; the task continues after a restart. */
  stop(): void;
};

export const createSends = (deps: SendDeps): Sends => {
  const { tasks, settings } = deps;
  const { accept } = createTaskAdmission(deps);
  const waiting = new Set<{ end(): void }>();

  const found = (scope: string, task_id: string): TimedRun => {
    const run = tasks.find(scope, task_id);
    if (!run) throw taskNotFound(task_id);
    return run;
  };

  /** As it was when its message was accepted, however far it has come since. */
  const submitted = (
    scope: string,
    { task_id, accepted_at, message_id: upTo }: AcceptedTask,
    { history_length: history }: SendRequest,
  ): Task => {
    const task = tasks.projection.task(scope, found(scope, task_id), { history, artifacts: false, upTo });
    return { ...task, status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestampOf(accepted_at) } };
  };

  /** As it is now. */
  const current = (scope: string, task_id: string, { history_length: history }: SendRequest): Task =>
    tasks.projection.task(scope, found(scope, task_id), { history, artifacts: true });

  const begun = (scope: string, accepted: AcceptedTask, asked: SendRequest): Task =>
    accepted.repeated ? current(scope, accepted.task_id, asked) : submitted(scope, accepted, asked);

  return {
    async send(scope, asked, hold) {
      if (asked.returns_at_once) return begun(scope, await accept(scope, asked), asked);
      const rest = createRest(settings.a2a_blocking_wait_ms);
      hold();
      const { task_id, repeated, stop } = await accept(scope, asked, rest);
      // Nothing more is heard of a task that has come to rest before.
      if (repeated && isAtRest(current(scope, task_id, asked).status.state)) rest.end();
      waiting.add(rest);
      try {
        await rest.reached();
      } finally {
        waiting.delete(rest);
        stop();
      }
      return current(scope, task_id, asked);
    },
    async stream(scope, asked) {
      const { stream, follower, open } = createTaskStream(isAtRest);
      const accepted = await accept(scope, asked, follower);
      stream.onClose(accepted.stop);
      const task = begun(scope, accepted, asked);
      open(task);
      if (accepted.repeated && isAtRest(task.status.state)) stream.end();
      return stream;
    },
    stop() {
      for (const rest of waiting) rest.end();
    },
  };
};

/** Waits for a state in which a task rests, at most so long. */
const createRest = (ceilingMs: number) => {
  let resolve = (): void => {};
  let reject = (_error: unknown): void => {};
  const rested = new Promise<void>((...settle) => {
    [resolve, reject] = settle;
  });
  // Nobody may be waiting for it when it fails.
  rested.catch(() => {});
  return {
    pieces: false,
    take(event: TaskEvent) {
      if ('statusUpdate' in event && isAtRest(event.statusUpdate.status.state)) resolve();
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
