import type { IncomingHttpHeaders } from 'node:http';
import type { Test } from 'tap';
import type { WireRequest } from '../../src/models/wire/wire.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import { startSseServer } from '../models/sse-server.ts';
import { refusalsOf } from '../models/wire/strict-anthropic.ts';
import { refusalOfGemini } from '../models/wire/strict-gemini.ts';
import { problemsOfChat } from '../models/wire/strict-openai-chat.ts';
import { rejectionOf } from '../models/wire/strict-openai-responses.ts';

/**
 * A model provider of each wire format. It rejects what the real service is documented to reject, and otherwise plays the
 * reply that is next.
 */

export type Call = { id: string; name: string; args: JsonObject };

export type Reply =
  | { kind: 'answer'; text: string; thought?: string; calls?: readonly Call[] }
  | { kind: 'refusal'; text: string }
  | { kind: 'overload' };

type Format = {
  adapter: string;
  upstream: string;
  rejects(request: WireRequest): string | undefined;
  /** The events of a reply; those of a format with named events have a type. */
  events(reply: Exclude<Reply, { kind: 'overload' }>): object[];
  overload: { status: number; body: object };
  /** What a request contains when it returns the reasoning of this provider. */
  returned: string;
  /** How a run ends whose model refuses: some formats have the refusal as text only. */
  refusalEnds: 'natural_end' | 'error';
};

const chatChunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});

const chat: Format = {
  adapter: 'deepseek',
  upstream: 'deepseek-reasoner',
  rejects: ({ body }) =>
    problemsOfChat(body, { reasoning: ['reasoning_content'], reasoningRequired: true })[0],
  returned: '"reasoning_content":"First.',
  refusalEnds: 'natural_end',
  events(reply) {
    if (reply.kind === 'refusal') return [chatChunk({ refusal: reply.text }), chatChunk({}, 'stop')];
    const { text, thought, calls = [] } = reply;
    return [
      ...(thought ? [chatChunk({ reasoning_content: thought })] : []),
      ...(text ? [chatChunk({ content: text })] : []),
      ...calls.map(({ id, name, args }, index) =>
        chatChunk({ tool_calls: [{ index, id, function: { name, arguments: JSON.stringify(args) } }] }),
      ),
      chatChunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ];
  },
  overload: { status: 503, body: { error: { message: 'The server is overloaded', type: 'server_error' } } },
};

let made = 0;

const responses: Format = {
  adapter: 'openai_resp',
  upstream: 'gpt-5',
  rejects: ({ body }) => rejectionOf(body),
  returned: '"encrypted_content":"encrypted',
  refusalEnds: 'natural_end',
  events(reply) {
    const output: object[] = [];
    if (reply.kind === 'answer') {
      const { text, thought, calls = [] } = reply;
      made += 1;
      const summary = [{ type: 'summary_text', text: thought }];
      if (thought)
        output.push({ type: 'reasoning', id: `rs_${made}`, summary, encrypted_content: `encrypted_${made}` });
      if (text) output.push(message({ type: 'output_text', text, annotations: [] }));
      for (const { id, name, args } of calls) {
        const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name };
        output.push({ ...item, arguments: JSON.stringify(args), status: 'completed' });
      }
    } else output.push(message({ type: 'refusal', refusal: reply.text }));
    return [
      { type: 'response.created', response: { id: 'r', model: 'm' } },
      ...output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: { id: 'r', status: 'completed', output } },
    ];
  },
  overload: { status: 503, body: { error: { message: 'Slow down', type: 'service_unavailable_error' } } },
};

const message = (part: object): object => ({
  type: 'message',
  id: `msg_${made}`,
  role: 'assistant',
  content: [part],
});

const anthropic: Format = {
  adapter: 'anthropic',
  upstream: 'claude-sonnet-4-5',
  rejects: (request) => refusalsOf(request)[0],
  returned: '"signature":"anthropic',
  refusalEnds: 'error',
  events(reply) {
    const blocks: { start: object; deltas: object[] }[] = [];
    if (reply.kind === 'answer' && reply.thought) {
      blocks.push({
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: reply.thought },
          { type: 'signature_delta', signature: 'anthropic' },
        ],
      });
    }
    if (reply.text) {
      blocks.push({ start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text: reply.text }] });
    }
    const calls = reply.kind === 'answer' ? (reply.calls ?? []) : [];
    for (const { id, name, args } of calls) {
      blocks.push({
        start: { type: 'tool_use', id, name, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(args) }],
      });
    }
    const answered = calls.length > 0 ? 'tool_use' : 'end_turn';
    const stop_reason = reply.kind === 'refusal' ? 'refusal' : answered;
    return [
      { type: 'message_start', message: { id: 'm', role: 'assistant', usage: { input_tokens: 1 } } },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
  },
  overload: {
    status: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  },
};

const gemini: Format = {
  adapter: 'gemini',
  upstream: 'gemini-3-pro-preview',
  rejects: (request) => refusalOfGemini(request, 'gemini'),
  returned: '"thoughtSignature":"gemini',
  refusalEnds: 'error',
  events(reply) {
    const candidate = (parts: object[], finishReason?: string): object => ({
      candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
    });
    if (reply.kind === 'refusal') return [candidate([{ text: reply.text }]), candidate([], 'SAFETY')];
    const { text, thought, calls = [] } = reply;
    return [
      ...(thought ? [candidate([{ text: thought, thought: true }])] : []),
      ...(text ? [candidate([{ text }])] : []),
      ...(calls.length > 0
        ? [
            candidate(
              calls.map(({ id, name, args }, index) => ({
                functionCall: { id, name, args },
                // The first of parallel calls has the signature of all.
                ...(index === 0 && { thoughtSignature: 'gemini' }),
              })),
            ),
          ]
        : []),
      candidate([], 'STOP'),
    ];
  },
  overload: { status: 503, body: { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } } },
};

export const FORMATS: Readonly<Record<string, Format>> = { chat, responses, anthropic, gemini };

export type Providers = {
  url: string;
  /** What each format was asked, the oldest first. */
  requests: { format: string; body: JsonObject; rejected: string | undefined }[];
  /** Replies that are not played yet, by format. */
  replies: Map<string, Reply[]>;
};

export const startProviders = async (t: Test): Promise<Providers> => {
  const requests: Providers['requests'] = [];
  const replies: Providers['replies'] = new Map();
  const { url } = await startSseServer(t, (response, { url, headers, body: text }) => {
    const [, name = '', path = ''] = /^\/([^/]+)\/(.*)$/.exec(url) ?? [];
    const format = FORMATS[name];
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (!format || text === '') {
      send(404, { error: { message: 'Not found' } });
      return;
    }
    const body: JsonObject = JSON.parse(text);
    const rejected = format.rejects({ path, headers: textsOf(headers), body });
    requests.push({ format: name, body, rejected });
    if (rejected !== undefined) {
      send(400, { error: { message: rejected, type: 'invalid_request_error', status: 'INVALID_ARGUMENT' } });
      return;
    }
    const reply = replies.get(name)?.shift() ?? { kind: 'answer', text: 'nothing was prepared' };
    if (reply.kind === 'overload') {
      send(format.overload.status, format.overload.body);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of format.events(reply)) {
      const type = 'type' in event ? `event: ${event.type}\n` : '';
      response.write(`${type}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
  return { url, requests, replies };
};

const textsOf = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
