import { z } from 'zod';
import { Json, JsonObject } from '../../schema/json.ts';
import { StateSnapshot } from '../../schema/run.ts';
import { RunResult } from '../../schema/run-event.ts';

/**
 * Schemas of the AG-UI events that this service sends (chat-and-agui.md 12, 13), for clients in languages without an
 * AG-UI client. `frames.ts` checks the fields against the official types.
 */

const event = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), ...shape });

const messageId = z.string();
const toolCallId = z.string();
const run = { threadId: z.string(), runId: z.string() };

const Interrupt = z.object({
  id: z.string(),
  reason: z.string(),
  toolCallId: z.string().optional(),
  message: z.string().optional(),
  responseSchema: JsonObject.optional(),
  metadata: JsonObject.optional(),
});

const Outcome = z.object({ type: z.literal('interrupt'), interrupts: z.array(Interrupt) });

const Snapshotted = z
  .looseObject({
    id: z.string(),
    role: z.enum(['system', 'user', 'assistant', 'tool', 'reasoning']),
  })
  .meta({ description: 'a message of AG-UI' });

const Patch = z.array(Json).meta({ description: 'a JSON Patch (RFC 6902)' });

export const AgUiEvent = z
  .discriminatedUnion('type', [
    event('RUN_STARTED', { ...run, parentRunId: z.string().optional() }),
    event('RUN_FINISHED', {
      ...run,
      result: RunResult.optional(),
      outcome: Outcome.optional().meta({ description: 'the run waits for responses' }),
      interrupt: z.object({ id: z.string().optional(), reason: z.string() }).optional().meta({
        description: 'the last interrupt, for clients without support for `outcome`',
        deprecated: true,
      }),
    }),
    event('RUN_ERROR', { message: z.string(), code: z.string().optional() }),
    event('STEP_STARTED', { stepName: z.string() }),
    event('STEP_FINISHED', { stepName: z.string() }),
    event('TEXT_MESSAGE_START', { messageId, role: z.literal('assistant') }),
    event('TEXT_MESSAGE_CONTENT', { messageId, delta: z.string() }),
    event('TEXT_MESSAGE_END', { messageId }),
    event('REASONING_MESSAGE_START', { messageId, role: z.literal('reasoning') }),
    event('REASONING_MESSAGE_CONTENT', { messageId, delta: z.string() }),
    event('REASONING_MESSAGE_END', { messageId }),
    event('REASONING_ENCRYPTED_VALUE', {
      subtype: z.literal('message'),
      entityId: z.string(),
      encryptedValue: z.string(),
    }),
    event('TOOL_CALL_START', {
      toolCallId,
      toolCallName: z.string(),
      parentMessageId: z.string().optional(),
    }),
    event('TOOL_CALL_ARGS', { toolCallId, delta: z.string() }),
    event('TOOL_CALL_END', { toolCallId }),
    event('TOOL_CALL_RESULT', { messageId, toolCallId, content: z.string(), role: z.literal('tool') }),
    event('STATE_SNAPSHOT', { snapshot: StateSnapshot }),
    event('STATE_DELTA', { delta: Patch }),
    event('MESSAGES_SNAPSHOT', { messages: z.array(Snapshotted) }),
    event('ACTIVITY_SNAPSHOT', {
      messageId,
      activityType: z.string(),
      content: JsonObject,
      replace: z.boolean().optional(),
    }),
    event('ACTIVITY_DELTA', { messageId, activityType: z.string(), patch: Patch }),
  ])
  .meta({ id: 'AgUiEvent', description: 'An event of AG-UI, by `type`.' });
export type AgUiEvent = z.infer<typeof AgUiEvent>;
