import { z } from 'zod';
import { OutputItem, OutputText, Refusal } from './output.ts';
import { ResponseInEvent } from './response.ts';

/** Schemas of the events of a response (openai-responses.md 7.5), for clients without a library of OpenAI. */

const event = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(`response.${type}`), sequence_number: z.int(), ...shape });

const response = { response: ResponseInEvent };
const item = { output_index: z.int(), item: OutputItem };
const of = { item_id: z.string(), output_index: z.int() };
const content = { ...of, content_index: z.int() };
const summary = { ...of, summary_index: z.int() };
const logprobs = { logprobs: z.array(z.never()) };
const part = { part: z.discriminatedUnion('type', [OutputText, Refusal]) };
const summaryPart = { part: z.object({ type: z.literal('summary_text'), text: z.string() }) };

export const ResponseEvent = z
  .discriminatedUnion('type', [
    event('created', response),
    event('queued', response),
    event('in_progress', response),
    event('completed', response),
    event('incomplete', response),
    event('failed', response),
    event('output_item.added', item),
    event('output_item.done', item),
    event('content_part.added', { ...content, ...part }),
    event('content_part.done', { ...content, ...part }),
    event('output_text.delta', { ...content, delta: z.string(), ...logprobs }),
    event('output_text.annotation.added', {
      ...content,
      annotation_index: z.int(),
      annotation: OutputText.shape.annotations.element,
    }),
    event('output_text.done', { ...content, text: z.string(), ...logprobs }),
    event('refusal.delta', { ...content, delta: z.string() }),
    event('refusal.done', { ...content, refusal: z.string() }),
    event('reasoning_summary_part.added', { ...summary, ...summaryPart }),
    event('reasoning_summary_part.done', { ...summary, ...summaryPart }),
    event('reasoning_summary_text.delta', { ...summary, delta: z.string() }),
    event('reasoning_summary_text.done', { ...summary, text: z.string() }),
    event('function_call_arguments.delta', { ...of, delta: z.string() }),
    event('function_call_arguments.done', { ...of, name: z.string(), arguments: z.string() }),
    event('mcp_call.in_progress', of),
    event('mcp_call_arguments.delta', { ...of, delta: z.string() }),
    event('mcp_call_arguments.done', { ...of, arguments: z.string() }),
    event('mcp_call.completed', of),
    event('mcp_call.failed', of),
  ])
  .meta({ id: 'OpenAiResponseEvent', description: 'An event of the stream of a response, by `type`.' });
