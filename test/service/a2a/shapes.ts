import { z } from 'zod';
import type { StreamResponse, Task } from '../../../src/protocols/a2a/model.ts';

/**
 * The objects of the protocol (a2a.md 6), checked strictly: an extra key, a null or a wrong type is an error, as in the
 * strict schema of the A2A project.
 */

const bag = z.record(z.string(), z.json());
const name = z.string().min(1);
const instant = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const about = { mediaType: name.optional(), filename: name.optional(), metadata: bag.optional() };
const Part = z.union([
  z.strictObject({ text: z.string(), ...about }),
  z.strictObject({ raw: z.base64(), ...about }),
  z.strictObject({ url: z.url(), ...about }),
  z.strictObject({ data: z.json(), ...about }),
]);

const Message = z.strictObject({
  messageId: name,
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: z.array(Part).min(1),
  taskId: name.optional(),
  contextId: name.optional(),
  metadata: bag.optional(),
  extensions: z.array(name).min(1).optional(),
  referenceTaskIds: z.array(name).min(1).optional(),
});

const state = z.enum(
  [
    'SUBMITTED',
    'WORKING',
    'INPUT_REQUIRED',
    'AUTH_REQUIRED',
    'COMPLETED',
    'FAILED',
    'CANCELED',
    'REJECTED',
  ].map((each) => `TASK_STATE_${each}`),
);

const Status = z.strictObject({ state, message: Message.optional(), timestamp: instant });

const Artifact = z.strictObject({
  artifactId: name,
  name,
  description: name.optional(),
  parts: z.array(Part).min(1),
  metadata: bag.optional(),
});

const TaskShape = z.strictObject({
  id: name,
  contextId: name,
  status: Status,
  artifacts: z.array(Artifact).min(1).optional(),
  history: z.array(Message).min(1).optional(),
  metadata: bag.optional(),
});

const place = { taskId: name, contextId: name, metadata: bag.optional() };

const Event = z.union([
  z.strictObject({ task: TaskShape }),
  z.strictObject({ message: Message }),
  z.strictObject({ statusUpdate: z.strictObject({ ...place, status: Status }) }),
  z.strictObject({
    artifactUpdate: z.strictObject({
      ...place,
      artifact: Artifact,
      append: z.boolean(),
      lastChunk: z.boolean(),
    }),
  }),
]);

const List = z.strictObject({
  tasks: z.array(TaskShape),
  totalSize: z.int().min(0),
  pageSize: z.int().min(1).max(100),
  nextPageToken: z.string(),
});

const Sent = z.union([z.strictObject({ task: TaskShape }), z.strictObject({ message: Message })]);

/** Each function returns its argument if the schema accepts it. @throws when the schema rejects it */
const checked =
  <Shape>(schema: z.ZodType) =>
  (value: unknown): Shape => {
    const { error } = schema.safeParse(value);
    if (error) throw new Error(`${z.prettifyError(error)} in ${JSON.stringify(value)}`);
    // The schema has validated the value.
    return value as Shape;
  };

export const taskShape = checked<Task>(TaskShape);
export const eventShape = checked<StreamResponse>(Event);
export const listShape = checked<{
  tasks: Task[];
  totalSize: number;
  pageSize: number;
  nextPageToken: string;
}>(List);
export const sentShape = checked<{ task: Task }>(Sent);
