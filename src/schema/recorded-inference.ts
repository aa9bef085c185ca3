import { z } from 'zod';
import { JsonObject } from './json.ts';
import { Message } from './message.ts';
import { ToolDescriptor } from './tool-descriptor.ts';

/** An inference of a stored run: its input as far as it is stored, and its output. */

/** Most messages in the input; earlier ones are only counted. */
export const MOST_INPUT_MESSAGES = 200;

export const RecordedInference = z
  .object({
    run_id: z.string(),
    step_index: z.int().meta({ description: '0-based' }),
    agent_id: z.string(),
    resolution_id: z
      .string()
      .optional()
      .meta({ description: 'the publication that `system`, `tools` and `settings` come from' }),
    system: z.string().meta({
      description: 'the system prompt of the agent at that time, without texts that plugins added',
    }),
    settings: JsonObject.meta({ description: 'model settings of the agent and of the run' }),
    tools: z.array(ToolDescriptor).meta({
      description: 'tools of the agent at that time, also those that a plugin withheld from this inference',
    }),
    messages: z.array(Message).meta({
      description: `the newest ones, oldest first: at most ${MOST_INPUT_MESSAGES}, and of long ones as many as fit in a page; files are replaced by descriptions`,
    }),
    omitted_messages: z.int().meta({ description: 'earlier messages of the input that are not included' }),
    response: Message.nullable().meta({
      description: 'the stored response; null if the inference failed or is not over',
    }),
  })
  .meta({ id: 'RecordedInference', description: 'The input and the output of an inference.' });
export type RecordedInference = z.infer<typeof RecordedInference>;
