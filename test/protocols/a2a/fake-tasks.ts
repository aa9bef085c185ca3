import type { TaskState } from '../../../machines/a2a-task.ts';
import type { Artifact, Task, Tasks } from '../../../src/protocols/a2a/model.ts';
import { run } from '../../store/records.ts';

/** Tasks that a test moves manually. */

export type FakeTasks = Tasks & {
  add(id: string, options?: { state?: TaskState }): void;
  move(id: string, state: TaskState): void;
  /** Completes the task with an artifact, in the order of a2a.md 10.1. */
  complete(id: string, text: string): void;
  forget(id: string): void;
  watchers(): number;
};

type Known = { task: Task };
type Listener = Parameters<Tasks['watch']>[2];

export const createFakeTasks = (): FakeTasks => {
  const known = new Map<string, Known>();
  const listeners = new Map<string, Set<Listener>>();
  let changes = 0;

  const knownAs = (id: string): Known => {
    const found = known.get(id);
    if (!found) throw new Error(`no task ${id}`);
    return found;
  };
  const tell = (id: string, event: Parameters<Listener>[0]): void => {
    for (const listener of [...(listeners.get(id) ?? [])]) listener(event);
  };
  const status = (state: TaskState): Task['status'] => {
    changes += 1;
    return { state, timestamp: new Date(1_761_647_400_000 + changes).toISOString() };
  };
  const change = (id: string, state: TaskState, artifacts?: Artifact[]): void => {
    const found = knownAs(id);
    const task = { ...found.task, status: status(state), ...(artifacts && { artifacts }) };
    known.set(id, { task });
    const { contextId } = task;
    for (const artifact of artifacts ?? []) {
      tell(id, { artifactUpdate: { taskId: id, contextId, artifact, append: false, lastChunk: true } });
    }
    tell(id, { statusUpdate: { taskId: id, contextId, status: task.status } });
  };

  return {
    find: (_scope, id) => (known.has(id) ? { run: run(id), changed_at: 0 } : undefined),
    update(_scope, { run: { run_id: taskId } }) {
      const { contextId, status } = knownAs(taskId).task;
      return { taskId, contextId, status };
    },
    watch(_scope, id, onEvent) {
      const found = known.get(id);
      if (!found) return undefined;
      const of = listeners.get(id) ?? new Set();
      listeners.set(id, of.add(onEvent));
      return { task: found.task, stop: () => of.delete(onEvent) };
    },
    add(id, { state = 'TASK_STATE_SUBMITTED' } = {}) {
      known.set(id, { task: { id, contextId: `context of ${id}`, status: status(state) } });
    },
    move: change,
    complete: (id, text) =>
      change(id, 'TASK_STATE_COMPLETED', [{ artifactId: 'response', name: 'response', parts: [{ text }] }]),
    forget: (id) => known.delete(id),
    watchers: () => [...listeners.values()].reduce((sum, of) => sum + of.size, 0),
  };
};
