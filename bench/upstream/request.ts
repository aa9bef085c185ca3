/** The minimal request of each wire format that a real service accepts. */

export const FORMATS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;

export type FormatName = (typeof FORMATS)[number];

export type ProviderRequest = { path: string; headers: Record<string, string>; body: string };

const KEY = 'bench';
const TEXT = 'Go.';

export function buildRequest(format: FormatName, model: string): ProviderRequest {
  const { path, headers, body } = REQUESTS[format](model);
  return { path, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

type Parts = { path: string; headers: Record<string, string>; body: object };

const messages = [{ role: 'user', content: TEXT }];
const bearer = { authorization: `Bearer ${KEY}` };

const REQUESTS: Record<FormatName, (model: string) => Parts> = {
  'openai-chat': (model) => ({
    path: '/v1/chat/completions',
    headers: bearer,
    body: { model, messages, stream: true, stream_options: { include_usage: true } },
  }),
  'openai-responses': (model) => ({
    path: '/v1/responses',
    headers: bearer,
    body: { model, input: messages, stream: true, store: false },
  }),
  anthropic: (model) => ({
    path: '/v1/messages',
    headers: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' },
    body: { model, max_tokens: 4096, messages, stream: true },
  }),
  gemini: (model) => ({
    path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    headers: { 'x-goog-api-key': KEY },
    body: { contents: [{ role: 'user', parts: [{ text: TEXT }] }] },
  }),
};
