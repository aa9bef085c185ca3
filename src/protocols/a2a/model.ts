import type { TaskState } from '../../../machines/a2a-task.ts';
import type { Json, JsonObject } from '../../schema/endpoint.ts';
import type { TimedRun } from '../../store/index.ts';

/** The objects of A2A 1.0 in their HTTP+JSON form (a2a.md 6). A key is absent when there is nothing to say. */

export type Part = ({ text: string } | { raw: string } | { url: string } | { data: Json }) & {
  mediaType?: string;
  filename?: string;
  metadata?: JsonObject;
};

export type A2aMessage = {
  messageId: string;
  role: 'ROLE_USER' | 'ROLE_AGENT';
  parts: Part[];
  taskId?: string;
  contextId?: string;
  metadata?: JsonObject;
  extensions?: string[];
  referenceTaskIds?: string[];
};

export type TaskStatus = {
  state: TaskState;
  message?: A2aMessage;
  /** RFC 3339, ms */
  timestamp: string;
};

export type Artifact = { artifactId: string; name: string; parts: Part[] };

export type Task = {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: A2aMessage[];
};

export type StatusUpdate = { taskId: string; contextId: string; status: TaskStatus };

export type ArtifactUpdate = {
  taskId: string;
  contextId: string;
  artifact: Artifact;
  append: boolean;
  lastChunk: boolean;
};

/** One event of a stream, and the body of one notification. */
export type StreamResponse =
  | { task: Task }
  | { statusUpdate: StatusUpdate }
  | { artifactUpdate: ArtifactUpdate };

/** The tasks of this service: every run is one (a2a.md 8). */
export type Tasks = {
  /** The run of the task. Undefined when there is no such task. */
  find(scope: string, task_id: string): TimedRun | undefined;
  /** Its status. */
  update(scope: string, found: TimedRun): StatusUpdate;
  /**
   * The task as it is, and from then on each change of its status and each artifact, whole, none lost and none
   * twice. Undefined when there is no such task. `onEvent` must not throw.
   */
  watch(
    scope: string,
    task_id: string,
    onEvent: (event: { statusUpdate: StatusUpdate } | { artifactUpdate: ArtifactUpdate }) => void,
  ): { task: Task; stop(): void } | undefined;
};
