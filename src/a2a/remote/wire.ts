import { z } from 'zod';
import { TASK_STATES } from '../../../machines/a2a-task.ts';
import type { Json } from '../../schema/endpoint.ts';

/**
 * Parses data of remote services (a2a.md 6) leniently: missing or malformed values count as absent, and unknown keys
 * are kept. Only data with neither a task nor a message is rejected, by the code that needs one.
 */

const text = z.string().optional().catch(undefined);
const id = z.string().trim().min(1).optional().catch(undefined);
const flag = z.boolean().catch(false);

/** Omits items that cannot be parsed. */
const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((given) =>
      given.flatMap((each) => {
        const read = item.safeParse(each);
        return read.success ? [read.data] : [];
      }),
    );

const Part = z.looseObject({ text, raw: text, url: text, mediaType: text, filename: text });
export type WirePart = z.infer<typeof Part>;

const Message = z.looseObject({
  messageId: id,
  taskId: id,
  contextId: id,
  role: text,
  parts: listOf(Part),
});
export type WireMessage = z.infer<typeof Message>;

const Artifact = z.looseObject({ artifactId: id, name: text, parts: listOf(Part) });
export type WireArtifact = z.infer<typeof Artifact>;

/** An unknown state does not end the task. */
const WORKING = 'TASK_STATE_WORKING';

const Status = z.looseObject({
  state: z.enum(TASK_STATES).catch(WORKING),
  message: Message.optional().catch(undefined),
});

export const Task = z.looseObject({
  id: z.string().min(1),
  contextId: id,
  status: Status.catch({ state: WORKING }),
  artifacts: listOf(Artifact),
  history: listOf(Message),
});
export type WireTask = z.infer<typeof Task>;

/** The response to a submission, or an event of a stream; at most one of the keys is present. */
export const Event = z.looseObject({
  task: Task.optional().catch(undefined),
  message: Message.optional().catch(undefined),
  statusUpdate: z.looseObject({ contextId: id, status: Status }).optional().catch(undefined),
  artifactUpdate: z
    .looseObject({ contextId: id, artifact: Artifact, append: flag, lastChunk: flag })
    .optional()
    .catch(undefined),
});
export type WireEvent = z.infer<typeof Event>;

/** The text of an error in any of the common forms. */
const Refusal = z.looseObject({
  error: z
    .union([z.string(), z.looseObject({ message: text, details: listOf(z.looseObject({ reason: text })) })])
    .optional()
    .catch(undefined),
  message: text,
  detail: text,
});

const LONGEST_TEXT = 500;

export const parseRefusal = (body: unknown): { text?: string; reason?: string } => {
  const read = Refusal.safeParse(body);
  if (!read.success) return {};
  const { error, message, detail } = read.data;
  const description = (typeof error === 'string' ? error : error?.message) ?? message ?? detail;
  const reason =
    typeof error === 'object' ? error.details.find(({ reason }) => reason !== undefined)?.reason : undefined;
  return {
    ...(description && { text: description.slice(0, LONGEST_TEXT) }),
    ...(reason && { reason: reason.slice(0, LONGEST_TEXT) }),
  };
};

/** Serializes the parsed values without those that could not be parsed. */
export const asJson = (read: object): Json => JSON.parse(JSON.stringify(read));
