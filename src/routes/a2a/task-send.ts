import { decodeSend, type SendRequest } from '../../protocols/a2a/decode.ts';
import { taskNotFound } from '../../protocols/a2a/errors.ts';
import type { Task } from '../../protocols/a2a/model.ts';
import { timestampOf } from '../../protocols/a2a/projection.ts';
import { createTaskStream } from '../../protocols/a2a/stream.ts';
import type { TaskEvent } from '../../protocols/a2a/task-feed.ts';
import { isInterrupted, isTerminal, type TaskState } from '../../schema/task-state.ts';
import type { TimedRun } from '../../store/index.ts';
import type { A2aRequest, TaskHandlers } from './handlers.ts';
import { type AcceptedTask, type AdmissionDeps, createTaskAdmission } from './task-admission.ts';

/** message:send and message:stream (a2a.md 7.6, 10.1). A client that goes away leaves its task alone. */

export type SendDeps = AdmissionDeps & {
  settings: {
    /** 0: as long as it takes */
    a2a_blocking_wait_ms: number;
    a2a_enforce_input_modes: boolean;
  };
};

export const createSendHandlers = (deps: SendDeps): Pick<TaskHandlers, 'send' | 'stream'> => {
  const { tasks, settings } = deps;
  const { accept } = createTaskAdmission(deps);

  const decode = ({ body, tenant }: A2aRequest): SendRequest =>
    decodeSend(body, { tenant, enforceInputModes: settings.a2a_enforce_input_modes });

  const found = (scope: string, task_id: string): TimedRun => {
    const run = tasks.projection.find(scope, task_id);
    if (!run) throw taskNotFound(task_id);
    return run;
  };

  /** As it was when its message was accepted, however far it has come since. */
  const submitted = (
    scope: string,
    accepted: AcceptedTask,
    { history_length: history }: SendRequest,
  ): Task => {
    const { task_id, accepted_at, message_id: upTo } = accepted;
    const task = tasks.projection.task(scope, found(scope, task_id), { history, artifacts: false, upTo });
    return { ...task, status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestampOf(accepted_at) } };
  };

  return {
    async send(request) {
      const { scope } = request;
      const asked = decode(request);
      if (asked.returns_at_once) return { task: submitted(scope, await accept(scope, asked), asked) };
      const rest = createRest(settings.a2a_blocking_wait_ms);
      request.hold();
      const { task_id, stop } = await accept(scope, asked, rest);
      try {
        await rest.reached();
      } finally {
        stop();
      }
      const shown = { history: asked.history_length, artifacts: true };
      return { task: tasks.projection.task(scope, found(scope, task_id), shown) };
    },
    async stream(request) {
      const { scope } = request;
      const asked = decode(request);
      const { stream, follower, open } = createTaskStream(rests);
      const accepted = await accept(scope, asked, follower);
      stream.onClose(accepted.stop);
      open(submitted(scope, accepted, asked));
      return stream;
    },
  };
};

/** Nothing more happens to it by itself. */
const rests = (state: TaskState): boolean => isTerminal(state) || isInterrupted(state);

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
      if ('statusUpdate' in event && rests(event.statusUpdate.status.state)) resolve();
    },
    fail: (error: unknown) => reject(error),
    async reached(): Promise<void> {
      const timer = ceilingMs === 0 ? undefined : setTimeout(resolve, ceilingMs).unref();
      try {
        await rested;
      } finally {
        clearTimeout(timer);
      }
    },
  };
};
