import { z } from 'zod';
import { withAliases } from '../../schema/aliases.ts';
import { Json, type JsonObject } from '../../schema/json.ts';
import { listOf, MOST_MESSAGES } from '../../schema/list.ts';
import { RequestedOutput } from '../../schema/output.ts';
import { frontendContext, isPresent } from '../frontend-context.ts';
import { FrontendTool } from '../frontend-tool.ts';

/**
 * The body of the routes that start an AG-UI run (chat-and-agui.md 11, 13.2). The content of messages is validated
 * later, one by one, because most of them are history that the service has.
 */

const AgUiMessage = z.object({
  role: z.string(),
  id: z.string().nullish(),
  content: z.unknown().optional(),
  toolCallId: z.string().nullish(),
  error: z.string().nullish(),
});
export type AgUiMessage = z.output<typeof AgUiMessage>;

const Answer = z.object({
  interruptId: z.string(),
  status: z.enum(['resolved', 'cancelled']),
  payload: Json.optional(),
  /** The metadata of the interrupt, possibly edited by the user. */
  metadata: z.looseObject({ digest: z.string().optional() }).nullish(),
});

/** The form of clients without support for lists of responses. It is ignored without an id. */
const SingleAnswer = withAliases(
  { interruptId: 'interrupt_id' },
  {
    interruptId: z.string().nullish(),
    status: Answer.shape.status.default('resolved'),
    payload: Json.optional(),
    metadata: Answer.shape.metadata,
  },
).transform(({ interruptId, ...answer }): z.output<typeof Answer>[] =>
  interruptId ? [{ interruptId, ...answer }] : [],
);

export type ResumeEntry = z.output<typeof Answer>;

type MaybeJson = Json | undefined;

/**
 * Merges state and context (chat-and-agui.md 11.3). Clients always send an empty list of contexts and the last state of
 * the run.
 */
const mergeContext = (state: MaybeJson, context: MaybeJson): MaybeJson => {
  if (!isPresent(context)) return state;
  if (!isPresent(state)) return context;
  if (Array.isArray(context)) return { state: state ?? null, context };
  return isObject(state) && isObject(context) ? { ...state, ...context } : state;
};

const isObject = (value: MaybeJson): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const AgUiBody = withAliases(
  { threadId: 'thread_id', agentId: 'agent_id' },
  {
    messages: listOf(AgUiMessage, MOST_MESSAGES).default([]),
    threadId: z.string().nullish(),
    agentId: z.string().nullish(),
    state: Json.optional(),
    context: Json.optional(),
    tools: listOf(FrontendTool).default([]),
    resume: z.union([listOf(Answer), SingleAnswer]).nullish(),
    protocolVersion: z.unknown().optional(),
    output_schema: RequestedOutput,
  },
).transform(
  ({ messages, state, context, tools, resume, threadId, agentId, protocolVersion, output_schema }) => ({
    messages,
    output_schema,
    /** Serialized here, so that a large one is serialized while the body is parsed. */
    frontend: frontendContext(mergeContext(state, context)),
    tools,
    /** Clients send the version since 1.0; those warn of every unknown key. */
    strict: typeof protocolVersion === 'string',
    resume: resume ?? [],
    thread_id: threadId?.trim() || undefined,
    agent_id: agentId?.trim() || undefined,
  }),
);
export type AgUiBody = z.output<typeof AgUiBody>;
