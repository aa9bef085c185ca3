import { z } from 'zod';
import { Json, JsonObject } from './json.ts';
import { ContentBlock, InputBlock } from './message.ts';

/** The definition of a tool, and the result of trying it alone (config.md 6.5). */

export const ToolDefinition = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().meta({ description: 'as models receive it' }),
    category: z.string().nullable(),
    parameters_schema: JsonObject.meta({ description: 'JSON Schema of the arguments object' }),
    needs_run: z.string().nullable().meta({
      description: 'why the tool cannot be tried alone; null for a tool that can',
    }),
  })
  .meta({ id: 'ToolDefinition', description: 'A tool as offered to models.' });
export type ToolDefinition = z.infer<typeof ToolDefinition>;

/** In milliseconds. */
export const TRIAL_TIMEOUT = { shortest: 10, longest: 300_000, usual: 30_000 } as const;

export const ToolTrialInput = z
  .strictObject({
    arguments: Json.optional().meta({ description: 'arguments of the call; default: an empty object' }),
    agent_id: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'the agent whose tools and permission rules apply; default: none' }),
    timeout_ms: z
      .int()
      .min(TRIAL_TIMEOUT.shortest)
      .max(TRIAL_TIMEOUT.longest)
      .default(TRIAL_TIMEOUT.usual)
      .meta({ description: 'after which the call is cancelled' }),
  })
  .meta({ id: 'ToolTrialInput', description: 'One call of a tool outside of a run.' });
export type ToolTrialInput = z.infer<typeof ToolTrialInput>;

const CallPermission = z.object({
  behavior: z.enum(['allow', 'ask', 'deny']),
  decided_by: z.enum(['rule', 'default', 'tool']),
  rule: z.string().nullable().meta({ description: 'pattern of the rule that decides' }),
});
export type CallPermission = z.infer<typeof CallPermission>;

export const ToolTrial = z
  .object({
    status: z.enum(['success', 'error', 'suspended']),
    data: Json.meta({ description: 'for clients; null after a failure' }),
    message: z.string().nullable().meta({ description: 'for the model, in place of the data' }),
    content: z.array(InputBlock).readonly().optional().meta({
      description: 'texts and files for the model, in place of the message',
    }),
    parts: z
      .array(ContentBlock)
      .readonly()
      .optional()
      .meta({ description: 'files for the answer of the run' }),
    metadata: JsonObject.optional(),
    state: z
      .array(
        z.object({
          key: z.string(),
          scope: z.enum(['run', 'thread']),
          hidden: z.boolean(),
          value: Json.meta({ description: 'null: the key would be removed' }),
        }),
      )
      .meta({ description: 'changes that a run would apply' }),
    output: z.string().optional().meta({ description: 'text that the tool has streamed' }),
    duration_ms: z.int(),
    permission: CallPermission.nullable().meta({
      description: 'what would happen to the call in a run; null if no rule applies',
    }),
  })
  .meta({ id: 'ToolTrial', description: 'The outcome of a call. Nothing of it is stored.' });
export type ToolTrial = z.infer<typeof ToolTrial>;
