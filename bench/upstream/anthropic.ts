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
import { checkResults, Refusal, readBody } from './refusal.ts';

/** Messages. Reasoning is a `thinking` block with its signature. */

const INVALID = 'invalid_request_error';

const Block = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  tool_use_id: z.string().optional(),
});

const Message = z.looseObject({
  role: z.literal(['user', 'assistant']),
  content: z.union([z.string().min(1), z.array(Block).min(1)]),
});

const Body = z.looseObject({
  model: z.string('Field required').min(1),
  max_tokens: z.int('Field required').min(1),
  messages: z.array(Message).min(1),
  stream: z.literal(true, 'this upstream only streams: stream must be true'),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});

export const anthropic: UpstreamFormat = {
  serves: (path) => path === '/v1/messages',
  read({ headers, body }) {
    if (!headers['x-api-key'] && !headers.authorization) {
      throw new Refusal(401, 'authentication_error', 'x-api-key header is required');
    }
    if (!headers['anthropic-version']) {
      throw new Refusal(400, INVALID, 'anthropic-version: header is required');
    }
    const { model, messages } = readBody(Body, body, INVALID);
    if (messages[0]?.role !== 'user') {
      throw new Refusal(400, INVALID, 'messages: first message must use the "user" role');
    }
    const blocksOf = ({ content }: z.output<typeof Message>): z.output<typeof Block>[] =>
      typeof content === 'string' ? [] : content;
    const blocks = messages.flatMap(blocksOf);
    checkResults(
      blocks.flatMap(({ type, id }) => (type === 'tool_use' ? (id ?? '') : [])),
      blocks.flatMap(({ type, tool_use_id }) => (type === 'tool_result' ? (tool_use_id ?? '') : [])),
      INVALID,
    );
    const last = messages.at(-1);
    const hasResults = last !== undefined && blocksOf(last).some(({ type }) => type === 'tool_result');
    return { model, hasResults, includeUsage: true };
  },
  encode,
  describe: ({ kind, message }) => ({
    type: 'error',
    error: { type: kind, message },
    request_id: 'req_bench0000000000000000000',
  }),
};

/** A content block: how it starts, and its deltas. */
type Part = { block: object; deltas: object[] };

function encode({ model }: Asked, answer: Answer): Chunk[] {
  const usage = { input_tokens: INPUT_TOKENS, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = {
    model,
    id: 'msg_bench00000000000000000000',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1, service_tier: 'standard' },
  };
  const stop_reason = answer.calls.length > 0 ? 'tool_use' : 'end_turn';
  const blocks = partsOf(answer).map(({ block, deltas }, index) => [
    event({ type: 'content_block_start', index, content_block: block }),
    ...(index === 0 ? [event({ type: 'ping' })] : []),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ]);
  return [
    event({ type: 'message_start', message }),
    ...blocks.flat(),
    event({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { ...usage, output_tokens: countOutput(answer) },
    }),
    event({ type: 'message_stop' }),
  ];
}

function partsOf({ reasoning, calls, tokens }: Answer): Part[] {
  const parts: Part[] = [];
  if (reasoning > 0) {
    const thoughts = Array.from({ length: reasoning }, () => ({ type: 'thinking_delta', thinking: THOUGHT }));
    const signature = { type: 'signature_delta', signature: 'EqQB'.padEnd(200, 'x') };
    parts.push({
      block: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...thoughts, signature],
    });
  }
  if (tokens > 0) {
    const deltas = Array.from({ length: tokens }, () => ({ type: 'text_delta', text: DEPARTURE }));
    parts.push({ block: { type: 'text', text: '' }, deltas });
  }
  for (const { id, name, fragments } of calls) {
    const deltas = ['', ...fragments].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    parts.push({ block: { type: 'tool_use', id: id.replace('call', 'toolu'), name, input: {} }, deltas });
  }
  return parts;
}

function event(data: { type: string; [field: string]: unknown }): Chunk {
  return chunkOf(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
}
