import { z } from 'zod';
import { isObject } from '../../schema/endpoint.ts';
import type { Violation } from './errors.ts';

/** The shape of a SendMessageRequest (a2a.md 7). Null means absent; what it does not know is ignored. */

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** An id that may be given; blank is as good as nothing. */
const OptionalId = z
  .string()
  .nullish()
  .transform((value) => value?.trim() || undefined);

const Part = z.object({
  text: optional(z.string()),
  raw: optional(z.string()),
  url: optional(z.string()),
  data: optional(z.json()),
  mediaType: optional(z.string()),
  filename: optional(z.string()),
});

const Selectors = { tenant: OptionalId, agentId: OptionalId, agent_id: OptionalId };

const Configuration = z.object({
  acceptedOutputModes: optional(z.array(z.string())),
  historyLength: optional(z.unknown()),
  returnImmediately: optional(z.boolean()),
  taskPushNotificationConfig: optional(z.unknown()),
  pushNotificationConfig: optional(z.unknown()),
});

const SendRequest = z.object({
  ...Selectors,
  message: z.object({
    messageId: z.string(),
    role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
    taskId: OptionalId,
    contextId: OptionalId,
    parts: z.array(Part),
  }),
  configuration: optional(Configuration),
});
export type SendShape = z.output<typeof SendRequest>;

/** What every message must have; clients are told which of them is missing. */
const REQUIRED = ['message', 'message.messageId', 'message.role', 'message.parts'];

const BODY = 'invalid JSON body: ';

export const parseShape = (body: unknown): SendShape | { violations: Violation[] } => {
  const parsed = SendRequest.safeParse(body);
  if (parsed.success) return parsed.data;
  return {
    violations: isObject(body) ? parsed.error.issues.map((issue) => violationOf(issue, body)) : [NO_OBJECT],
  };
};

const NO_OBJECT = { field: 'body', description: `${BODY}an object is expected` };

const violationOf = ({ path, message }: z.core.$ZodIssue, body: unknown): Violation => {
  const at = path.join('.');
  const isMissing = valueAt(body, path) === undefined;
  const what = isMissing ? 'required' : message.replace(/^Invalid (input|option): /, '');
  return REQUIRED.includes(at)
    ? { field: at, description: what }
    : { field: 'body', description: `${BODY}${at}: ${what}` };
};

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => Object(value)[key], body);
