import { z } from 'zod';
import {
  type Answer,
  type Asked,
  type Chunk,
  chunkOf,
  countOutput,
  DEPARTURE,
  INPUT_TOKENS,
  THOUGHT,
} from './answer.ts';
import type { UpstreamFormat } from './format.ts';
import { checkBearer, describeOpenAi, INVALID, Stream } from './openai.ts';
import { checkResults, readBody } from './refusal.ts';

/** Chat Completions. Reasoning is in `reasoning_content`, as DeepSeek and vLLM send it. */

const Call = z.looseObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
});

const Message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal(['system', 'developer', 'user']), content: z.unknown() }),
  z.looseObject({ role: z.literal('assistant'), tool_calls: z.array(Call).min(1).optional() }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string().min(1), content: z.unknown() }),
]);

const Body = z.looseObject({
  model: z.string('you must provide a model parameter').min(1, 'you must provide a model parameter'),
  messages: z.array(Message).min(1),
  stream: Stream,
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  tools: z
    .array(z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }))
    .optional(),
});

export const openaiChat: UpstreamFormat = {
  serves: (path) => path === '/v1/chat/completions',
  read({ headers, body }) {
    checkBearer(headers);
    const { model, messages, stream_options } = readBody(Body, body, INVALID);
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [],
    );
    const results = messages.flatMap((message) => (message.role === 'tool' ? message.tool_call_id : []));
    checkResults(calls, results, INVALID);
    const hasResults = messages.at(-1)?.role === 'tool';
    return { model, hasResults, includeUsage: stream_options?.include_usage === true };
  },
  encode,
  describe: describeOpenAi,
};

function encode({ model, includeUsage }: Asked, answer: Answer): Chunk[] {
  const base = {
    id: 'chatcmpl-Bench0000000000000000000000000',
    object: 'chat.completion.chunk',
    created: 1_764_200_000,
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_0000000000',
  };
  const usageNull = includeUsage ? { usage: null } : {};
  const frame = (delta: object, finish_reason: string | null = null): Chunk => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return event({ ...base, choices, ...usageNull, obfuscation: 'a1B2c3' });
  };
  const { reasoning, calls, tokens } = answer;
  return [
    frame({ role: 'assistant', content: calls.length > 0 ? null : '', refusal: null }),
    ...Array.from({ length: reasoning }, () => frame({ reasoning_content: THOUGHT })),
    ...Array.from({ length: tokens }, () => frame({ content: DEPARTURE })),
    ...callDeltas(answer).map((tool_calls) => frame({ tool_calls })),
    frame({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(includeUsage ? [event({ ...base, choices: [], usage: usageOf(answer) })] : []),
    { head: 'data: [DONE]\n\n', tail: '' },
  ];
}

/** The calls start one after another; the fragments of their arguments are interleaved. */
function callDeltas({ calls }: Answer): object[][] {
  const starts = calls.map(({ id, name }, index) => [
    { index, id, type: 'function', function: { name, arguments: '' } },
  ]);
  const rounds = Math.max(0, ...calls.map(({ fragments }) => fragments.length));
  const fragments = Array.from({ length: rounds }, (_, round) =>
    calls.map(({ fragments }, index) => [{ index, function: { arguments: fragments[round] ?? '' } }]),
  );
  return [...starts, ...fragments.flat()];
}

function usageOf(answer: Answer): object {
  const completion_tokens = countOutput(answer);
  return {
    prompt_tokens: INPUT_TOKENS,
    completion_tokens,
    total_tokens: INPUT_TOKENS + completion_tokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: answer.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function event(data: object): Chunk {
  return chunkOf(`data: ${JSON.stringify(data)}\n\n`);
}
