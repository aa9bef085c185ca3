import type { TaskOrigin, TaskRecord } from '../../loop/background.ts';
import type { Message } from '../../schema/message.ts';
import { type TaskEventKind, taskEvent } from '../../tools/task-event.ts';
import type { TaskCancel, TaskInput, TaskTarget } from '../../tools/tasks.ts';
import type { Json } from '../../tools/tool.ts';
import type { RuntimeDeps } from '../deps.ts';

/**
 * The background tasks of one run.
 *
 * Guarantees: delivery of each task event to the actor of its thread is retried until it is durable there, in order.
 */

export type TaskList = {
  readonly scope: string;
  readonly thread_id: string;
  readonly run_id: string;
  readonly tasks: Map<string, Task>;
  /** Number of the last task. */
  last: number;
  /** Counts the changes of tasks. */
  version: number;
  /** Number of events that are not staged for the run yet. */
  unstaged: number;
  /** Settles when all events so far have been delivered. */
  delivering: Promise<void>;
  /** The run has ended, or the process ends. */
  over: boolean;
  readonly waiters: Set<() => void>;
};

type Task = { record: TaskRecord; abort: AbortController };

/** An event for the run that the task belongs to. Without a message the run is only woken. */
export type TaskEvent = { run_id: string; message?: Message; staged(): void };

export type TaskDeps = Pick<RuntimeDeps, 'clock' | 'ids' | 'log' | 'observe'> & {
  /** Resolves once the event is durable, or its run no longer exists. */
  deliver(scope: string, thread_id: string, event: TaskEvent): Promise<void>;
};

const RETRY_MS = 1_000;

export function createTaskList(run: Pick<TaskList, 'scope' | 'thread_id' | 'run_id'>): TaskList {
  return {
    ...run,
    tasks: new Map(),
    last: 0,
    version: 0,
    unstaged: 0,
    delivering: Promise.resolve(),
    over: false,
    waiters: new Set(),
  };
}

/** @param last the number of the last task of the run that an earlier execution has started */
export function startTask(
  deps: TaskDeps,
  list: TaskList,
  { input, last, origin }: { input: TaskInput; last: number; origin: TaskOrigin },
): { task_id: string } {
  list.last = Math.max(list.last, last) + 1;
  const task_id = `bg_${list.last}`;
  const at = deps.clock.now();
  const { name, parent } = input;
  const record: TaskRecord = {
    task_id,
    ...(name !== undefined && { name }),
    ...(parent !== undefined && { parent }),
    call_id: origin.call_id,
    ...(origin.step_index !== undefined && { step_index: origin.step_index }),
    started_at: at,
    status: 'running',
    updated_at: at,
  };
  const task = { record, abort: new AbortController() };
  list.tasks.set(task_id, task);
  list.version += 1;
  if (list.over) cancelOne(deps, list, task);
  // The synchronous part of the task must not run inside the call that starts it.
  else queueMicrotask(() => void execute(deps, list, task, input));
  return { task_id };
}

export function cancelTasks(deps: TaskDeps, list: TaskList, { relation, name }: TaskTarget): TaskCancel {
  const running = [...list.tasks.values()].filter(({ record }) => record.status === 'running');
  const eligible = running.filter(({ record }) => (record.parent === undefined) === (relation === 'self'));
  const root = eligible.find(({ record }) => record.name === name || record.task_id === name);
  if (!root) return { error: noSuchTask({ relation, name }, eligible) };
  const cancelled = withParts(root, running);
  for (const task of cancelled) {
    cancelOne(deps, list, task);
    reportEvent(deps, list, { kind: 'cancelled', task_id: task.record.task_id, body: {} });
  }
  return { root_task_id: root.record.task_id, cancelled_count: cancelled.length };
}

/** Cancels the running tasks without events: the run is over. */
export function endTasks(deps: Pick<TaskDeps, 'clock'>, list: TaskList): void {
  list.over = true;
  for (const task of list.tasks.values()) {
    if (task.record.status === 'running') cancelOne(deps, list, task);
  }
  notifyWaiters(list);
}

/** Whether a task is running, or an event of one is not staged yet. */
export function isPending(list: TaskList | undefined): boolean {
  if (!list || list.over) return false;
  return list.unstaged > 0 || [...list.tasks.values()].some(({ record }) => record.status === 'running');
}

/** Resolves when an event has been staged for the run, when none is pending, or when the signal fires. */
export function nextEvent(list: TaskList | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (!list || !isPending(list) || signal.aborted) return resolve();
    const stop = (): void => {
      list.waiters.delete(stop);
      signal.removeEventListener('abort', stop);
      resolve();
    };
    list.waiters.add(stop);
    signal.addEventListener('abort', stop);
  });
}

export function noSuchTask({ relation, name }: TaskTarget, eligible: readonly Task[]): string {
  const names = eligible.map(({ record }) => record.name ?? record.task_id).join(', ');
  return `no task '${name}' of relation '${relation}' is at work${names === '' ? '' : `; at work: ${names}`}`;
}

async function execute(deps: TaskDeps, list: TaskList, task: Task, input: TaskInput): Promise<void> {
  const { task_id } = task.record;
  const emit = (body: Json): void => {
    if (isRunning(list, task)) reportEvent(deps, list, { kind: 'custom', task_id, body });
  };
  try {
    const result = await input.run(task.abort.signal, emit);
    finish(deps, list, task, { status: 'completed', body: { result: result ?? null } });
  } catch (cause) {
    const error = cause instanceof Error ? cause.message : String(cause);
    finish(deps, list, task, { status: 'failed', body: { error }, error });
  }
}

type Finish = { status: 'completed' | 'failed'; body: Json; error?: string };

function finish(deps: TaskDeps, list: TaskList, task: Task, { status, body, error }: Finish): void {
  if (!isRunning(list, task)) return;
  change(deps, list, task, { status, ...(error !== undefined && { error }) });
  reportEvent(deps, list, { kind: status, task_id: task.record.task_id, body });
}

function isRunning({ over }: TaskList, { record }: Task): boolean {
  return !over && record.status === 'running';
}

function cancelOne(deps: Pick<TaskDeps, 'clock'>, list: TaskList, task: Task): void {
  change(deps, list, task, { status: 'cancelled' });
  task.abort.abort();
}

function change(
  { clock }: Pick<TaskDeps, 'clock'>,
  list: TaskList,
  task: Task,
  changes: Partial<TaskRecord>,
): void {
  task.record = { ...task.record, ...changes, updated_at: clock.now() };
  list.version += 1;
}

type Report = { kind: TaskEventKind; task_id: string; body: Json };

/** Delivers an event to the run, after the earlier events. */
function reportEvent(deps: TaskDeps, list: TaskList, { kind, task_id, body }: Report): void {
  list.unstaged += 1;
  const message = taskEvent(deps.ids.uuid(), kind, task_id, body);
  let isStaged = false;
  const staged = (): void => {
    if (!isStaged) list.unstaged -= 1;
    isStaged = true;
    notifyWaiters(list);
  };
  const event: TaskEvent = { run_id: list.run_id, message, staged };
  list.delivering = list.delivering.then(() => deliverUntilDurable(deps, list, event, task_id));
}

async function deliverUntilDurable(
  { deliver, observe, log }: TaskDeps,
  list: TaskList,
  event: TaskEvent,
  task_id: string,
): Promise<void> {
  const { scope, thread_id, run_id } = list;
  while (!list.over) {
    try {
      await deliver(scope, thread_id, event);
      return event.staged();
    } catch (error) {
      observe.taskCommitFailed('deliver');
      log.warn('task.event_delayed', { err: error, thread_id, run_id, task_id });
      await pause(RETRY_MS);
    }
  }
}

function notifyWaiters({ waiters }: TaskList): void {
  for (const notify of [...waiters]) notify();
}

/** Returns a task with all of its running parts. */
function withParts(root: Task, running: readonly Task[]): Task[] {
  const ids = new Set([root.record.task_id]);
  // A part is started after its parent.
  return running.filter(({ record }) => {
    const belongs = ids.has(record.task_id) || (record.parent !== undefined && ids.has(record.parent));
    if (belongs) ids.add(record.task_id);
    return belongs;
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
