import type { WireRequest } from '../../src/models/wire/wire.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import { frame } from '../models/transport/frames.ts';
import { refusalsOf } from '../models/wire/strict-anthropic.ts';
import { problemsOfConverse } from '../models/wire/strict-bedrock.ts';
import { refusalOfGemini } from '../models/wire/strict-gemini.ts';
import { problemsOfMistral } from '../models/wire/strict-mistral.ts';
import { problemsOfChat } from '../models/wire/strict-openai-chat.ts';
import { rejectionOf } from '../models/wire/strict-openai-responses.ts';

/** A model provider of each wire format: the requests that it rejects, and the stream of a reply. */

export type Call = { id: string; name: string; args: JsonObject };

export type Answer = { kind: 'answer'; text: string; thought?: string; calls?: readonly Call[] };

export type Reply = Answer | { kind: 'refusal'; text: string } | { kind: 'overload' };

type Streamed = Exclude<Reply, { kind: 'overload' }>;

/** The position of the schema field for a structured result. */
type Native = {
  adapter: string;
  upstream: string;
  adapter_options?: JsonObject;
  /** Text in a request with the field. */
  sends: string;
};

export type Format = {
  adapter: string;
  upstream: string;
  /** Another model of the same provider. */
  otherUpstream: string;
  adapter_options?: JsonObject;
  rejects(request: WireRequest): string | undefined;
  /** The chunks of a reply. Its reasoning contains the mark in the field that the service requires back. */
  stream(reply: Streamed, mark: string): (string | Buffer)[];
  contentType: string;
  overload: { status: number; headers?: Record<string, string>; body: object };
  /** Whether requests return the reasoning of earlier completions. */
  returnsReasoning: boolean;
  /** The outcome of a run whose model refuses: some formats report the refusal only as text. */
  refusalEnds: 'natural_end' | 'error';
  native?: Native;
};

const sse = (events: readonly object[]): string[] =>
  events.map((event) => {
    const type = 'type' in event ? `event: ${event.type}\n` : '';
    return `${type}data: ${JSON.stringify(event)}\n\n`;
  });

const EVENT_STREAM = 'text/event-stream';

const chatChunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});

const chatEvents = (reply: Streamed, thinking: object | undefined, idOf = (id: string) => id): object[] => {
  if (reply.kind === 'refusal') return [chatChunk({ refusal: reply.text }), chatChunk({}, 'stop')];
  const { text, calls = [] } = reply;
  return [
    ...(thinking ? [chatChunk(thinking)] : []),
    ...(text ? [chatChunk({ content: text })] : []),
    ...calls.map(({ id, name, args }, index) =>
      chatChunk({
        tool_calls: [{ index, id: idOf(id), function: { name, arguments: JSON.stringify(args) } }],
      }),
    ),
    chatChunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
  ];
};

const thoughtOf = (reply: Streamed): string | undefined =>
  reply.kind === 'answer' ? reply.thought : undefined;

const chat: Format = {
  adapter: 'deepseek',
  upstream: 'deepseek-reasoner',
  otherUpstream: 'deepseek-v4-pro',
  rejects: ({ body }) =>
    problemsOfChat(body, { reasoning: ['reasoning_content'], reasoningRequired: true })[0],
  returnsReasoning: true,
  refusalEnds: 'natural_end',
  contentType: EVENT_STREAM,
  stream(reply, mark) {
    const thought = thoughtOf(reply);
    return sse(chatEvents(reply, thought === undefined ? undefined : { reasoning_content: thought + mark }));
  },
  overload: { status: 503, body: { error: { message: 'The server is overloaded', type: 'server_error' } } },
  native: { adapter: 'vllm', upstream: 'qwen3', sends: '"response_format":{"type":"json_schema"' },
};

let made = 0;

const message = (part: object): object => {
  made += 1;
  return { type: 'message', id: `msg_${made}`, role: 'assistant', content: [part] };
};

const outputOf = (reply: Streamed, mark: string): object[] => {
  if (reply.kind === 'refusal') return [message({ type: 'refusal', refusal: reply.text })];
  const { text, thought, calls = [] } = reply;
  made += 1;
  const summary = [{ type: 'summary_text', text: thought }];
  return [
    ...(thought ? [{ type: 'reasoning', id: `rs_${made}`, summary, encrypted_content: mark }] : []),
    ...(text ? [message({ type: 'output_text', text, annotations: [] })] : []),
    ...calls.map(({ id, name, args }) => ({
      ...{ type: 'function_call', id: `fc_${id}`, call_id: id, name },
      ...{ arguments: JSON.stringify(args), status: 'completed' },
    })),
  ];
};

const responses: Format = {
  adapter: 'openai_resp',
  upstream: 'gpt-5',
  otherUpstream: 'gpt-5-mini',
  rejects: ({ body }) => rejectionOf(body),
  returnsReasoning: true,
  refusalEnds: 'natural_end',
  contentType: EVENT_STREAM,
  stream(reply, mark) {
    const output = outputOf(reply, mark);
    return sse([
      { type: 'response.created', response: { id: 'r', model: 'm' } },
      ...output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: { id: 'r', status: 'completed', output } },
    ]);
  },
  overload: { status: 503, body: { error: { message: 'Slow down', type: 'service_unavailable_error' } } },
  native: {
    adapter: 'azure',
    upstream: 'gpt-5',
    adapter_options: { api: 'responses' },
    sends: '"text":{"format":{"type":"json_schema"',
  },
};

/** Blocks of a completion of Claude, which Bedrock streams under other names. */
const claudeBlocks = (reply: Streamed): { thought?: string; text?: string; call?: Call }[] => {
  const { thought, calls = [] } = reply.kind === 'answer' ? reply : {};
  return [
    ...(thought ? [{ thought }] : []),
    ...(reply.text ? [{ text: reply.text }] : []),
    ...calls.map((call) => ({ call })),
  ];
};

const claudeStop = (reply: Streamed): string => {
  if (reply.kind === 'refusal') return 'refusal';
  return reply.calls?.length ? 'tool_use' : 'end_turn';
};

const anthropic: Format = {
  adapter: 'anthropic',
  upstream: 'claude-sonnet-4-5',
  otherUpstream: 'claude-opus-4-5',
  rejects: (request) => refusalsOf(request)[0],
  returnsReasoning: true,
  refusalEnds: 'error',
  contentType: EVENT_STREAM,
  stream(reply, mark) {
    const events = claudeBlocks(reply).flatMap(({ thought, text, call }, index) => {
      const delta = (value: object) => ({ type: 'content_block_delta', index, delta: value });
      const start = (content_block: object) => ({ type: 'content_block_start', index, content_block });
      const stop = { type: 'content_block_stop', index };
      if (thought !== undefined) {
        const deltas = [
          delta({ type: 'thinking_delta', thinking: thought }),
          delta({ type: 'signature_delta', signature: mark }),
        ];
        return [start({ type: 'thinking', thinking: '', signature: '' }), ...deltas, stop];
      }
      if (text !== undefined)
        return [start({ type: 'text', text: '' }), delta({ type: 'text_delta', text }), stop];
      const partial_json = JSON.stringify(call?.args);
      const use = { type: 'tool_use', id: call?.id, name: call?.name, input: {} };
      return [start(use), delta({ type: 'input_json_delta', partial_json }), stop];
    });
    return sse([
      { type: 'message_start', message: { id: 'm', role: 'assistant', usage: { input_tokens: 1 } } },
      ...events,
      { type: 'message_delta', delta: { stop_reason: claudeStop(reply) }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]);
  },
  overload: {
    status: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  },
  native: {
    adapter: 'anthropic',
    upstream: 'claude-sonnet-4-5',
    sends: '"format":{"type":"json_schema"',
  },
};

const geminiEvents = (reply: Streamed, mark: string): object[] => {
  const candidate = (parts: object[], finishReason?: string): object => ({
    candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
  });
  if (reply.kind === 'refusal') return [candidate([{ text: reply.text }]), candidate([], 'SAFETY')];
  const { text, thought, calls = [] } = reply;
  const parts = calls.map(({ id, name, args }, index) => ({
    functionCall: { id, name, args },
    // The first of several parallel calls has the signature of all.
    ...(index === 0 && { thoughtSignature: mark }),
  }));
  return [
    ...(thought ? [candidate([{ text: thought, thought: true }])] : []),
    ...(text ? [candidate([{ text }])] : []),
    ...(parts.length > 0 ? [candidate(parts)] : []),
    candidate([], 'STOP'),
  ];
};

const gemini: Format = {
  adapter: 'gemini',
  upstream: 'gemini-3-pro-preview',
  otherUpstream: 'gemini-3-flash-preview',
  rejects: (request) => refusalOfGemini(request, 'gemini'),
  returnsReasoning: true,
  refusalEnds: 'error',
  contentType: EVENT_STREAM,
  stream: (reply, mark) => sse(geminiEvents(reply, mark)),
  overload: { status: 503, body: { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } } },
  native: {
    adapter: 'gemini',
    upstream: 'gemini-3-pro-preview',
    sends: '"responseMimeType":"application/json","responseJsonSchema":',
  },
};

const bedrock: Format = {
  adapter: 'bedrock',
  upstream: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  otherUpstream: 'us.anthropic.claude-opus-4-5-20251101-v1:0',
  rejects: ({ path, body }) => problemsOfConverse(modelIn({ path, body }), body)[0],
  returnsReasoning: true,
  refusalEnds: 'error',
  contentType: 'application/vnd.amazon.eventstream',
  stream(reply, mark) {
    const blocks = claudeBlocks(reply).flatMap(({ thought, text, call }, contentBlockIndex) => {
      const delta = (value: object) => frame('contentBlockDelta', { contentBlockIndex, delta: value });
      const stop = frame('contentBlockStop', { contentBlockIndex });
      if (thought !== undefined)
        return [
          delta({ reasoningContent: { text: thought } }),
          delta({ reasoningContent: { signature: mark } }),
          stop,
        ];
      if (text !== undefined) return [delta({ text }), stop];
      const toolUse = { toolUseId: call?.id, name: call?.name };
      return [
        frame('contentBlockStart', { contentBlockIndex, start: { toolUse } }),
        delta({ toolUse: { input: JSON.stringify(call?.args) } }),
        stop,
      ];
    });
    return [
      frame('messageStart', { role: 'assistant' }),
      ...blocks,
      frame('messageStop', { stopReason: claudeStop(reply) }),
      frame('metadata', { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
    ];
  },
  overload: {
    status: 503,
    headers: { 'x-amzn-errortype': 'ServiceUnavailableException' },
    body: { message: 'Bedrock is unable to process your request.' },
  },
};

/** Mistral's call ids have nine characters. */
const nineCharacters = (id: string): string => id.padEnd(9, '0').slice(-9);

const mistral: Format = {
  adapter: 'mistral',
  upstream: 'magistral-medium-latest',
  otherUpstream: 'mistral-large-latest',
  rejects: ({ body }) => problemsOfMistral(body)[0],
  returnsReasoning: false,
  refusalEnds: 'natural_end',
  contentType: EVENT_STREAM,
  stream(reply, mark) {
    const thought = thoughtOf(reply);
    const thinking = [{ type: 'text', text: `${thought}${mark}` }];
    const content = thought === undefined ? undefined : [{ type: 'thinking', thinking }];
    return sse(chatEvents(reply, content && { content }, nineCharacters));
  },
  overload: { status: 503, body: { object: 'error', message: 'Service unavailable.', type: 'unavailable' } },
  native: {
    adapter: 'mistral',
    upstream: 'mistral-large-latest',
    sends: '"response_format":{"type":"json_schema"',
  },
};

export const FORMATS: Readonly<Record<string, Format>> = {
  chat,
  responses,
  anthropic,
  gemini,
  bedrock,
  mistral,
};

/** The model that a request addresses, in its body or in its path. */
export const modelIn = ({ path, body }: Pick<WireRequest, 'path' | 'body'>): string => {
  if (typeof body.model === 'string') return body.model;
  return decodeURIComponent(
    /models?\/([^/]+?)(:streamGenerateContent|\/converse-stream)/.exec(path)?.[1] ?? '',
  );
};
