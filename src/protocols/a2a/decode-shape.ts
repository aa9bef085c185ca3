import { z } from 'zod';
import { isObject } from '../../schema/endpoint.ts';
import { Json, JsonObject } from '../../schema/json.ts';
import { listOf } from '../../schema/list.ts';
import { pathText, phrases, toProblem } from '../../schema/phrases.ts';
import type { Violation } from './errors.ts';

/** The shape of a SendMessageRequest (a2a.md 7). Null means absent, and unknown keys are ignored. */

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** A value that its consumer validates. */
const unchecked = z
  .unknown()
  .optional()
  .transform((value) => value ?? undefined);

/** An optional id; blank means absent. */
const OptionalId = z
  .string()
  .nullish()
  .transform((value) => value?.trim() || undefined);

const Part = z.object({
  text: optional(z.string()),
  raw: optional(z.string()),
  url: optional(z.string()),
  data: optional(Json),
  mediaType: optional(z.string()),
  filename: optional(z.string()),
  metadata: optional(JsonObject),
});

const Selectors = { tenant: OptionalId, agentId: OptionalId, agent_id: OptionalId };

/** `push/config.ts` validates this together with its context. */
const PushConfig = unchecked.meta({
  override: { $ref: '#/components/schemas/A2aPushNotificationConfigInput' },
});

const Configuration = z.object({
  acceptedOutputModes: optional(listOf(z.string())),
  historyLength: unchecked.meta({ override: { type: 'integer', minimum: 0 } }),
  returnImmediately: optional(z.boolean()),
  taskPushNotificationConfig: PushConfig,
  pushNotificationConfig: PushConfig.meta({
    deprecated: true,
    description: 'alias of `taskPushNotificationConfig`, which takes precedence',
  }),
});

export const SendRequest = z
  .object({
    ...Selectors,
    message: z.object({
      messageId: z.string(),
      role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
      taskId: OptionalId,
      contextId: OptionalId,
      parts: listOf(Part),
      metadata: optional(JsonObject),
      extensions: optional(listOf(z.string())),
      referenceTaskIds: optional(listOf(z.string())),
    }),
    configuration: optional(Configuration),
    metadata: optional(JsonObject),
  })
  .meta({ id: 'A2aSendMessageRequest', description: 'A message and the options of its response.' });
export type SendShape = z.output<typeof SendRequest>;

/** Fields that every message requires; an error names the missing ones. */
const REQUIRED = ['message', 'message.messageId', 'message.role', 'message.parts'];

const BODY = 'invalid JSON body: ';

export const parseShape = (body: unknown): SendShape | { violations: Violation[] } => {
  const parsed = SendRequest.safeParse(body, phrases);
  if (parsed.success) return parsed.data;
  return {
    violations: isObject(body) ? parsed.error.issues.map(violationOf) : [NO_OBJECT],
  };
};

const NO_OBJECT = { field: 'body', description: `${BODY}an object is expected` };

const violationOf = (issue: z.core.$ZodIssue): Violation => {
  const { path, text, missing } = toProblem(issue);
  const at = pathText(path);
  const what = missing ? 'required' : text;
  return REQUIRED.includes(at)
    ? { field: at, description: what }
    : { field: 'body', description: `${BODY}${at}: ${what}` };
};
