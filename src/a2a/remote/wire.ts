import { z } from 'zod';
import { TASK_STATES } from '../../../machines/a2a-task.ts';
import type { Json } from '../../schema/endpoint.ts';

/**
 * What another service sends (a2a.md 6), read as far as it can be: whatever is missing or of another form says
 * nothing, and keys that nobody here knows are kept. Only what has neither a task nor a message is refused, by whoever
 * needed one.
 */

const text = z.string().optional().catch(undefined);
const id = z.string().trim().min(1).optional().catch(undefined);
const flag = z.boolean().catch(false);

/** Items that cannot be read are left out. */
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

/** A state that nobody knows is none in which the task is over. */
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

/** Of a submission, or one of a stream: at most one of the keys is there. */
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

/** The words of an error, in any of the forms that are in use. */
const Refusal = z.looseObject({
  error: z
    .union([z.string(), z.looseObject({ message: text, details: listOf(z.looseObject({ reason: text })) })])
    .optional()
    .catch(undefined),
  message: text,
  detail: text,
});

const LONGEST_TEXT = 500;

export const refusalOf = (body: unknown): { text?: string; reason?: string } => {
  const read = Refusal.safeParse(body);
  if (!read.success) return {};
  const { error, message, detail } = read.data;
  const said = (typeof error === 'string' ? error : error?.message) ?? message ?? detail;
  const reason =
    typeof error === 'object' ? error.details.find(({ reason }) => reason !== undefined)?.reason : undefined;
  return {
    ...(said && { text: said.slice(0, LONGEST_TEXT) }),
    ...(reason && { reason: reason.slice(0, LONGEST_TEXT) }),
  };
};

/** What was read, without what could not be. */
export const asJson = (read: object): Json => JSON.parse(JSON.stringify(read));
