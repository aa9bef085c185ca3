import { z } from 'zod';
import { TASK_STATES } from '../../../machines/a2a-task.ts';
import { Json, JsonObject } from '../../schema/json.ts';
import type { TimedRun } from '../../store/index.ts';

/** The objects of A2A 1.0 in their HTTP+JSON form (a2a.md 6). Keys without a value are absent. */

const note = {
  mediaType: z.string().optional(),
  filename: z.string().optional(),
  metadata: JsonObject.optional(),
};

export const Part = z
  .union([
    z.object({ text: z.string(), ...note }),
    z.object({ raw: z.string().meta({ description: 'base64' }), ...note }),
    z.object({ url: z.string(), ...note }),
    z.object({ data: Json, ...note }),
  ])
  .meta({ id: 'A2aPart', description: 'A part of a message or artifact.' });
export type Part = z.infer<typeof Part>;

export const A2aMessage = z
  .object({
    messageId: z.string(),
    role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
    parts: z.array(Part),
    taskId: z.string().optional(),
    contextId: z.string().optional(),
    metadata: JsonObject.optional(),
    extensions: z.array(z.string()).optional(),
    referenceTaskIds: z.array(z.string()).optional(),
  })
  .meta({ id: 'A2aMessage', description: 'A message of a task.' });
export type A2aMessage = z.infer<typeof A2aMessage>;

export const TaskStatus = z
  .object({
    state: z.enum(TASK_STATES),
    message: A2aMessage.optional(),
    timestamp: z.string().meta({ description: 'RFC 3339, milliseconds' }),
  })
  .meta({ id: 'A2aTaskStatus', description: 'Status of a task.' });
export type TaskStatus = z.infer<typeof TaskStatus>;

export const Artifact = z
  .object({
    artifactId: z.string(),
    name: z.string(),
    parts: z.array(Part),
    metadata: JsonObject.optional(),
  })
  .meta({ id: 'A2aArtifact', description: 'An output of a task.' });
export type Artifact = z.infer<typeof Artifact>;

export const Task = z
  .object({
    id: z.string(),
    contextId: z.string(),
    status: TaskStatus,
    artifacts: z.array(Artifact).optional(),
    history: z.array(A2aMessage).optional(),
  })
  .meta({ id: 'A2aTask', description: 'A task; it is a run.' });
export type Task = z.infer<typeof Task>;

const StatusUpdate = z
  .object({ taskId: z.string(), contextId: z.string(), status: TaskStatus })
  .meta({ id: 'A2aStatusUpdate', description: 'A change of the status of a task.' });
export type StatusUpdate = z.infer<typeof StatusUpdate>;

const ArtifactUpdate = z
  .object({
    taskId: z.string(),
    contextId: z.string(),
    artifact: Artifact,
    append: z.boolean(),
    lastChunk: z.boolean(),
  })
  .meta({ id: 'A2aArtifactUpdate', description: 'A further part of an artifact.' });
export type ArtifactUpdate = z.infer<typeof ArtifactUpdate>;

/** One event of a stream, and the body of one notification. */
export const StreamResponse = z
  .union([
    z.object({ task: Task }),
    z.object({ statusUpdate: StatusUpdate }),
    z.object({ artifactUpdate: ArtifactUpdate }),
  ])
  .meta({ id: 'A2aStreamResponse', description: 'An event of a task.' });
export type StreamResponse = z.infer<typeof StreamResponse>;

export const SendMessageResponse = z
  .object({ task: Task })
  .meta({ id: 'A2aSendMessageResponse', description: 'The task of the message.' });

export const ListTasksResponse = z
  .object({
    tasks: z.array(Task),
    totalSize: z.int(),
    pageSize: z.int(),
    nextPageToken: z.string().meta({ description: 'empty on the last page' }),
  })
  .meta({ id: 'A2aListTasksResponse', description: 'One page of tasks.' });

/** The tasks of this service: every run is one (a2a.md 8). */
export type Tasks = {
  /** Returns the run of a task, or undefined if the task does not exist. */
  find(scope: string, task_id: string): TimedRun | undefined;
  /** Returns the status of a task. */
  update(scope: string, found: TimedRun): StatusUpdate;
  /**
   * Returns the current task, and then reports each status change and each complete artifact exactly once. Returns
   * undefined if the task does not exist. `onEvent` must not throw.
   */
  watch(
    scope: string,
    task_id: string,
    onEvent: (event: { statusUpdate: StatusUpdate } | { artifactUpdate: ArtifactUpdate }) => void,
  ): { task: Task; stop(): void } | undefined;
};
