import { OPENAI_CHAT } from '../../../src/models/chat-options.ts';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { anthropicWire } from '../../../src/models/wire/anthropic.ts';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import { openaiChatWire } from '../../../src/models/wire/openai-chat.ts';
import { openaiResponsesWire } from '../../../src/models/wire/openai-responses.ts';
import type { Wire, WireRequest } from '../../../src/models/wire/wire.ts';
import { refusalsOf } from './strict-anthropic.ts';
import { refusalOfGemini } from './strict-gemini.ts';
import { problemsOfChat } from './strict-openai-chat.ts';
import { rejectionOf } from './strict-openai-responses.ts';

/**
 * Each format with one of its models and a service that rejects the requests that the real ones are documented to
 * reject.
 */
export const FORMATS: readonly {
  wire: Wire;
  upstream: string;
  rejects(request: WireRequest): string | undefined;
}[] = [
  {
    wire: openaiChatWire(OPENAI_CHAT),
    upstream: 'gpt-4o',
    rejects: ({ body }) => problemsOfChat(body)[0],
  },
  { wire: openaiResponsesWire(), upstream: 'gpt-5', rejects: ({ body }) => rejectionOf(body) },
  {
    wire: anthropicWire(),
    upstream: 'claude-sonnet-4-5',
    rejects: (request) => refusalsOf(request)[0],
  },
  {
    wire: geminiWire({ platform: 'gemini' }),
    upstream: 'gemini-2.5-pro',
    rejects: (request) => refusalOfGemini(request, 'gemini'),
  },
];

/** The request of each format, and the reason for which its service rejects it. */
export const encoded = (
  request: InferenceRequest,
): { format: string; sent: WireRequest; problem: string | undefined }[] =>
  FORMATS.map(({ wire, upstream, rejects }) => {
    const sent = wire.encode({ upstream, provider: 'p', spec: {}, request, pauses: [] });
    return { format: wire.format, sent, problem: rejects(sent) };
  });
