import type { RunTasks, TaskOrigin, TaskRecord } from '../loop/background.ts';
import type { Message } from '../schema/message.ts';
import { type TaskEventKind, taskEvent } from '../tools/task-event.ts';
import type { TaskCancel, TaskInput, TaskTarget } from '../tools/tasks.ts';
import type { Json } from '../tools/tool.ts';
import type { RuntimeDeps } from './deps.ts';

/**
 * The background tasks of this process, by run. They outlive the execution that started them, and the actor of its
 * thread; they end with their run, or with the process.
 *
 * Guarantees: what a task tells is handed to the actor of its thread until it is durable there, in its order.
 * Costs: a run without tasks has no entry.
 */

export type TaskBoard = {
  of(run: { scope: string; thread_id: string; run_id: string; inPlace: boolean }): RunTasks;
  /** The run is done. */
  endRun(scope: string, run_id: string): void;
  stop(): void;
};

/** For the run that the task belongs to. Without a message it is only woken. */
export type TaskEvent = { run_id: string; message?: Message; staged(): void };

type Task = { record: TaskRecord; abort: AbortController };

type Entry = {
  scope: string;
  thread_id: string;
  run_id: string;
  tasks: Map<string, Task>;
  last: number;
  version: number;
  /** Events that the run does not have yet. */
  untold: number;
  telling: Promise<void>;
  over: boolean;
  waiters: Set<() => void>;
};

const RETRY_MS = 1_000;

type Deps = Pick<RuntimeDeps, 'clock' | 'ids' | 'log' | 'observe'> & {
  /** Resolves once the event is durable, or is for nobody any more. */
  deliver(scope: string, thread_id: string, event: TaskEvent): Promise<void>;
};

export const createTaskBoard = ({ clock, ids, log, observe, deliver }: Deps): TaskBoard => {
  const entries = new Map<string, Entry>();
  const keyOf = (scope: string, run_id: string): string => `${scope}\0${run_id}`;

  const tell = (entry: Entry, kind: TaskEventKind, task_id: string, body: Json): void => {
    entry.untold += 1;
    const message = taskEvent(ids.uuid(), kind, task_id, body);
    let isStaged = false;
    const staged = (): void => {
      if (!isStaged) entry.untold -= 1;
      isStaged = true;
      for (const go of [...entry.waiters]) go();
    };
    const { scope, thread_id, run_id } = entry;
    const tryUntilTold = async (): Promise<void> => {
      while (!entry.over) {
        try {
          await deliver(scope, thread_id, { run_id, message, staged });
          return staged();
        } catch (error) {
          observe.taskCommitFailed('deliver');
          log.warn({ err: error, thread_id, run_id, task_id }, 'a task event waits for its thread');
          await pause(RETRY_MS);
        }
      }
    };
    entry.telling = entry.telling.then(tryUntilTold);
  };

  const change = (entry: Entry, task: Task, changes: Partial<TaskRecord>): void => {
    task.record = { ...task.record, ...changes, updated_at: clock.now() };
    entry.version += 1;
  };

  const cancelOne = (entry: Entry, task: Task): void => {
    change(entry, task, { status: 'cancelled' });
    task.abort.abort();
  };

  const finish = (
    entry: Entry,
    task: Task,
    status: 'completed' | 'failed',
    body: Json,
    error?: string,
  ): void => {
    if (entry.over || task.record.status !== 'running') return;
    change(entry, task, { status, ...(error !== undefined && { error }) });
    tell(entry, status, task.record.task_id, body);
  };

  const execute = async (entry: Entry, task: Task, input: TaskInput): Promise<void> => {
    const { task_id } = task.record;
    const emit = (event: Json): void => {
      if (!entry.over && task.record.status === 'running') tell(entry, 'custom', task_id, event);
    };
    try {
      const result = await input.run(task.abort.signal, emit);
      finish(entry, task, 'completed', { result: result ?? null });
    } catch (cause) {
      const error = cause instanceof Error ? cause.message : String(cause);
      finish(entry, task, 'failed', { error }, error);
    }
  };

  const start = (
    entry: Entry,
    input: TaskInput,
    last: number,
    { call_id, step_index }: TaskOrigin,
  ): { task_id: string } => {
    entry.last = Math.max(entry.last, last) + 1;
    const task_id = `bg_${entry.last}`;
    const at = clock.now();
    const { name, parent } = input;
    const record: TaskRecord = {
      task_id,
      ...(name !== undefined && { name }),
      ...(parent !== undefined && { parent }),
      call_id,
      ...(step_index !== undefined && { step_index }),
      started_at: at,
      status: 'running',
      updated_at: at,
    };
    const task = { record, abort: new AbortController() };
    entry.tasks.set(task_id, task);
    entry.version += 1;
    if (entry.over) cancelOne(entry, task);
    // What it does before it first waits does not run inside the call that starts it.
    else queueMicrotask(() => void execute(entry, task, input));
    return { task_id };
  };

  const cancel = (entry: Entry, { relation, name }: TaskTarget): TaskCancel => {
    const running = [...entry.tasks.values()].filter(({ record }) => record.status === 'running');
    const eligible = running.filter(({ record }) => (record.parent === undefined) === (relation === 'self'));
    const root = eligible.find(({ record }) => record.name === name || record.task_id === name);
    if (!root) return { error: notFound(relation, name, eligible) };
    const doomed = withParts(root, running);
    for (const task of doomed) {
      cancelOne(entry, task);
      tell(entry, 'cancelled', task.record.task_id, {});
    }
    return { root_task_id: root.record.task_id, cancelled_count: doomed.length };
  };

  /** Those at work are cancelled and nobody is told: the run is over. */
  const end = (entry: Entry): void => {
    entry.over = true;
    for (const task of entry.tasks.values()) {
      if (task.record.status === 'running') cancelOne(entry, task);
    }
    for (const go of [...entry.waiters]) go();
  };

  return {
    of({ inPlace, ...run }) {
      const key = keyOf(run.scope, run.run_id);
      const entry = (): Entry | undefined => entries.get(key);
      let noted = 0;
      return {
        inPlace,
        start(task, last, origin) {
          const known = entry() ?? newEntry(run);
          entries.set(key, known);
          return start(known, task, last, origin);
        },
        cancel(target) {
          const known = entry();
          return known ? cancel(known, target) : { error: notFound(target.relation, target.name, []) };
        },
        pending: () => isPending(entry()),
        changed() {
          const known = entry();
          if (!known || known.version === noted) return [];
          noted = known.version;
          return Array.from(known.tasks.values(), ({ record }) => record);
        },
        knows: (task_id) => entry()?.tasks.has(task_id) ?? false,
        told: (signal) => nextEvent(entry(), signal),
        end() {
          const known = entry();
          if (known) end(known);
        },
      };
    },
    endRun(scope, run_id) {
      const key = keyOf(scope, run_id);
      const entry = entries.get(key);
      if (!entry) return;
      end(entry);
      entries.delete(key);
    },
    stop() {
      for (const entry of entries.values()) end(entry);
    },
  };
};

const newEntry = (run: Pick<Entry, 'scope' | 'thread_id' | 'run_id'>): Entry => ({
  ...run,
  tasks: new Map(),
  last: 0,
  version: 0,
  untold: 0,
  telling: Promise.resolve(),
  over: false,
  waiters: new Set(),
});

const isPending = (entry: Entry | undefined): boolean => {
  if (!entry || entry.over) return false;
  return entry.untold > 0 || [...entry.tasks.values()].some(({ record }) => record.status === 'running');
};

const nextEvent = (entry: Entry | undefined, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (!isPending(entry) || signal.aborted) return resolve();
    const go = (): void => {
      entry?.waiters.delete(go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    entry?.waiters.add(go);
    signal.addEventListener('abort', go);
  });

/** A task with everything that is a part of it and still at work. */
const withParts = (root: Task, running: readonly Task[]): Task[] => {
  const ids = new Set([root.record.task_id]);
  // A part is started after what it is a part of.
  return running.filter(({ record }) => {
    const belongs = ids.has(record.task_id) || (record.parent !== undefined && ids.has(record.parent));
    if (belongs) ids.add(record.task_id);
    return belongs;
  });
};

const notFound = (relation: string, name: string, eligible: readonly Task[]): string => {
  const names = eligible.map(({ record }) => record.name ?? record.task_id).join(', ');
  return `no task '${name}' of relation '${relation}' is at work${names === '' ? '' : `; at work: ${names}`}`;
};

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
