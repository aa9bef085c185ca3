import { z } from 'zod';
import { ReachedLimit } from '../../schema/budget.ts';
import { Json, JsonObject } from '../../schema/json.ts';
import { Message } from '../../schema/message.ts';
import { StateSnapshot, TicketBelow } from '../../schema/run.ts';
import { Usage } from '../../schema/run-event.ts';

/**
 * Schemas of the chunks that this service sends of the UI message stream of the AI SDK, version 6 (chat-and-agui.md
 * 2.7, 4): the official ones, and `data-` chunks for everything that the protocol does not define.
 */

const chunk = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), ...shape });

const data = <const Type extends string, Data extends z.ZodType>(type: Type, schema: Data) =>
  chunk(type, {
    data: schema,
    id: z.string().optional(),
    transient: z.literal(true).optional().meta({ description: 'the client does not store it' }),
  });

const id = z.string();
const toolCallId = z.string();
/** Set for calls that the model provider executes. */
const providerExecuted = z.literal(true).optional();

export const FinishReason = z.enum(['stop', 'content-filter', 'tool-calls', 'error']);
export type FinishReason = z.infer<typeof FinishReason>;

const activity = { messageId: z.string(), activityType: z.string() };

export const UiMessageChunk = z
  .discriminatedUnion('type', [
    chunk('start', { messageId: z.string() }),
    chunk('start-step', {}),
    chunk('finish-step', {}),
    chunk('finish', { finishReason: FinishReason }),
    chunk('error', { errorText: z.string() }),
    chunk('text-start', { id }),
    chunk('text-delta', { id, delta: z.string() }),
    chunk('text-end', {
      id,
      providerMetadata: z
        .object({ troupe: z.object({ voided: z.literal(true) }) })
        .optional()
        .meta({ description: 'the text is withdrawn and another one follows' }),
    }),
    chunk('reasoning-start', { id }),
    chunk('reasoning-delta', { id, delta: z.string() }),
    chunk('reasoning-end', { id }),
    chunk('tool-input-start', { toolCallId, toolName: z.string(), providerExecuted }),
    chunk('tool-input-delta', { toolCallId, inputTextDelta: z.string() }),
    chunk('tool-input-error', {
      toolCallId,
      toolName: z.string(),
      input: z.unknown(),
      errorText: z.string(),
      providerExecuted: z.literal(true),
    }),
    chunk('tool-input-available', {
      toolCallId,
      toolName: z.string(),
      input: z.unknown(),
      providerExecuted,
      providerMetadata: z
        .object({ troupe: z.object({ executedBy: z.literal('provider') }) })
        .optional()
        .meta({ description: 'the model provider executes the call' }),
    }),
    chunk('tool-approval-request', { approvalId: z.string(), toolCallId }),
    data(
      'data-tool-approval',
      z.object({
        approvalId: z.string(),
        toolCallId,
        digest: z.string().optional(),
        tickets: z.array(TicketBelow),
      }),
    ).meta({ description: 'the tickets of the delegate, before the approval request' }),
    data(
      'data-authorization',
      z.object({
        ticketId: z.string(),
        toolCallId,
        server: z.string(),
        scopes: z.array(z.string()),
        authorization: z.string(),
        url: z.string(),
        expiresAt: z.int(),
      }),
    ).meta({ description: 'the account that a call waits for; the user connects it at `url`' }),
    data(
      'data-budget',
      ReachedLimit.omit({ resets_at: true }).extend({ ticketId: z.string(), resetsAt: z.int().optional() }),
    ).meta({
      description: 'the exhausted budget that the run waits for',
    }),
    chunk('tool-output-available', {
      toolCallId,
      output: z.unknown(),
      providerExecuted: z.literal(true),
      preliminary: z.literal(true).optional(),
    }),
    chunk('tool-output-error', { toolCallId, errorText: z.string(), providerExecuted: z.literal(true) }),
    chunk('tool-output-denied', { toolCallId }),
    chunk('source-url', { sourceId: z.string(), url: z.string(), title: z.string().optional() }),
    chunk('source-document', {
      sourceId: z.string(),
      mediaType: z.string(),
      title: z.string(),
      filename: z.string().optional(),
    }),
    chunk('file', { url: z.string(), mediaType: z.string() }),
    data('data-run-info', z.object({ runId: z.string(), threadId: z.string() })),
    data('data-reasoning-encrypted', z.object({ encryptedValue: z.string() })),
    data(
      'data-inference-complete',
      z.object({
        model: z.string(),
        usage: Usage.nullable(),
        costUsd: z.number().optional().meta({ description: 'omitted where the model has no price' }),
        durationMs: z.int(),
      }),
    ),
    data('data-retry', z.object({ error: z.string(), attempt: z.int(), maxAttempts: z.int() })).meta({
      description: 'why the last attempt failed, and the number of the next one',
    }),
    data('data-state-snapshot', StateSnapshot),
    data('data-state-delta', z.array(Json)),
    data('data-messages-snapshot', z.array(Message)),
    data('data-activity-snapshot', z.object({ ...activity, content: Json, replace: z.boolean().nullable() })),
    data('data-activity-delta', z.object({ ...activity, patch: z.array(Json) })),
    data('data-artifact', JsonObject),
    data('data-structured-output', Json).meta({ description: 'the value that fits the schema of the run' }),
  ])
  .meta({ id: 'UiMessageChunk', description: 'A chunk of the UI message stream of the AI SDK, by `type`.' });
export type UiMessageChunk = z.infer<typeof UiMessageChunk>;

export type ChunkKeys<Type extends UiMessageChunk['type']> = Omit<
  Extract<UiMessageChunk, { type: Type }>,
  'type'
>;
