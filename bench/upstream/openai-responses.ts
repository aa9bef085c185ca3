import { z } from 'zod';
import {
  type Answer,
  type Asked,
  type Chunk,
  chunkOf,
  countOutput,
  DEPARTURE,
  INPUT_TOKENS,
  TEXT,
  THOUGHT,
  type ToolCall,
} from './answer.ts';
import type { UpstreamFormat } from './format.ts';
import { checkBearer, describeOpenAi, INVALID, Stream } from './openai.ts';
import { checkResults, readBody } from './refusal.ts';

/** Responses. Reasoning is a summary, and the item contains its encrypted content. */

const Item = z.looseObject({ type: z.string().optional(), call_id: z.string().optional() });

const Body = z.looseObject({
  model: z.string("Missing required parameter: 'model'.").min(1),
  input: z.union([z.string(), z.array(Item).min(1)]),
  stream: Stream,
  tools: z.array(z.looseObject({ type: z.string(), name: z.string().optional() })).optional(),
});

export const openaiResponses: UpstreamFormat = {
  serves: (path) => path === '/v1/responses',
  read({ headers, body }) {
    checkBearer(headers);
    const { model, input } = readBody(Body, body, INVALID);
    const items = typeof input === 'string' ? [] : input;
    const idsOf = (type: string): string[] =>
      items.flatMap((item) => (item.type === type ? (item.call_id ?? '') : []));
    checkResults(idsOf('function_call'), idsOf('function_call_output'), INVALID);
    const hasResults = items.at(-1)?.type === 'function_call_output';
    return { model, hasResults, includeUsage: true };
  },
  encode,
  describe: describeOpenAi,
};

type Send = (type: string, fields: object) => void;

function encode({ model }: Asked, answer: Answer): Chunk[] {
  const chunks: Chunk[] = [];
  const send: Send = (type, fields) => {
    const data = JSON.stringify({ type, sequence_number: chunks.length, ...fields });
    chunks.push(chunkOf(`event: ${type}\ndata: ${data}\n\n`));
  };
  const output: object[] = [];
  const response = responseOf(model);
  send('response.created', { response });
  send('response.in_progress', { response });
  if (answer.reasoning > 0) output.push(sendReasoning(send, answer.reasoning));
  if (answer.tokens > 0) output.push(sendMessage(send, answer.tokens, output.length));
  for (const call of answer.calls) output.push(sendCall(send, call, output.length));
  const usage = usageOf(answer);
  send('response.completed', { response: { ...response, status: 'completed', output, usage } });
  return chunks;
}

function sendReasoning(send: Send, chunks: number): object {
  const id = 'rs_bench000000000000000000000000000000';
  const encrypted_content = 'gAAAAAB'.padEnd(200, 'x');
  const place = { item_id: id, output_index: 0, summary_index: 0 };
  const text = THOUGHT.repeat(chunks);
  const part = { type: 'summary_text', text };
  const item = { id, type: 'reasoning', encrypted_content, summary: [] };
  send('response.output_item.added', { output_index: 0, item });
  send('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } });
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    send('response.reasoning_summary_text.delta', { ...place, delta: THOUGHT, obfuscation: 'a1B2c3' });
  }
  send('response.reasoning_summary_text.done', { ...place, text });
  send('response.reasoning_summary_part.done', { ...place, part });
  const done = { ...item, summary: [part] };
  send('response.output_item.done', { output_index: 0, item: done });
  return done;
}

function sendMessage(send: Send, tokens: number, output_index: number): object {
  const id = 'msg_bench00000000000000000000000000000';
  const place = { item_id: id, output_index, content_index: 0 };
  const item = { id, type: 'message', status: 'in_progress', content: [], role: 'assistant' };
  const part = { type: 'output_text', annotations: [], logprobs: [], text: '' };
  send('response.output_item.added', { output_index, item });
  send('response.content_part.added', { ...place, part });
  for (let token = 0; token < tokens; token += 1) {
    send('response.output_text.delta', { ...place, delta: DEPARTURE, logprobs: [], obfuscation: 'a1B2c3' });
  }
  const content = [{ ...part, text: TEXT }];
  const done = { ...item, status: 'completed', content };
  send('response.output_text.done', { ...place, text: TEXT, logprobs: [] });
  send('response.content_part.done', { ...place, part: { ...part, text: TEXT } });
  send('response.output_item.done', { output_index, item: done });
  return done;
}

function sendCall(send: Send, { id: call_id, name, fragments }: ToolCall, output_index: number): object {
  const id = `fc_bench${'0'.repeat(30)}${output_index}`;
  const place = { item_id: id, output_index };
  const item = { id, type: 'function_call', status: 'in_progress', arguments: '', call_id, name };
  send('response.output_item.added', { output_index, item });
  for (const delta of fragments) {
    send('response.function_call_arguments.delta', { ...place, delta, obfuscation: 'a1B2c3' });
  }
  const done = { ...item, status: 'completed', arguments: fragments.join('') };
  send('response.function_call_arguments.done', { ...place, arguments: done.arguments });
  send('response.output_item.done', { output_index, item: done });
  return done;
}

function responseOf(model: string): object {
  return {
    id: 'resp_bench0000000000000000000000000000',
    object: 'response',
    created_at: 1_764_200_000,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: 'auto',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    metadata: {},
  };
}

function usageOf(answer: Answer): object {
  const output_tokens = countOutput(answer);
  return {
    input_tokens: INPUT_TOKENS,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: answer.reasoning },
    total_tokens: INPUT_TOKENS + output_tokens,
  };
}
