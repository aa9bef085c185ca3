import { z } from 'zod';

/** Schemas of the responses of chat completions (openai.md 6.2, 6.4). */

const FinishReason = z.enum(['stop', 'tool_calls', 'length', 'content_filter']);

const Usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int(), audio_tokens: z.int() }),
  completion_tokens_details: z.object({
    reasoning_tokens: z.int(),
    audio_tokens: z.int(),
    accepted_prediction_tokens: z.int(),
    rejected_prediction_tokens: z.int(),
  }),
});

const common = {
  id: z.string(),
  created: z.int().meta({ description: 'seconds since the epoch' }),
  model: z.string().meta({ description: 'as the client sent it' }),
  service_tier: z.literal('default'),
  system_fingerprint: z.string(),
};

const ToolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

export const ChatCompletion = z
  .object({
    ...common,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.string().nullable(),
          annotations: z.array(z.never()),
          reasoning_content: z.string().optional(),
          tool_calls: z.array(ToolCall).optional(),
        }),
        logprobs: z.null(),
        finish_reason: FinishReason,
      }),
    ),
    usage: Usage,
  })
  .meta({ id: 'OpenAiChatCompletion', description: 'A chat completion.' });

export const ChatChunk = z
  .object({
    ...common,
    service_tier: common.service_tier.optional().meta({ description: 'absent in deltas of text' }),
    object: z.literal('chat.completion.chunk'),
    choices: z.array(
      z.object({
        index: z.int(),
        delta: z.looseObject({
          role: z.literal('assistant').optional(),
          content: z.string().optional(),
          refusal: z.string().nullable().optional(),
          reasoning_content: z.string().optional(),
        }),
        logprobs: z.null().optional().meta({ description: 'absent in deltas of text' }),
        finish_reason: FinishReason.nullable(),
      }),
    ),
    usage: Usage.nullable().optional(),
  })
  .meta({ id: 'OpenAiChatChunk', description: 'A part of a chat completion.' });
