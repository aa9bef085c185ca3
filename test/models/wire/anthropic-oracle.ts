import { createAnthropic } from '@ai-sdk/anthropic';
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceEnd } from '../../../src/models/model.ts';
import type { WireCall } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { nameForModel, schemaForModel } from '../../../src/schema/model-tool.ts';
import { type Heard, recordingSink, requestOf } from '../infer.ts';
import { callOf } from './decode.ts';
import { anthropicEffort } from './package-effort.ts';
import { createPartReceiver } from './package-parts.ts';
import { toPrompt } from './package-prompt.ts';

/** The request that the package `@ai-sdk/anthropic` sends, and its decoding of a stream. */

type Sdk = { sent: unknown; parts: LanguageModelV3StreamPart[]; failure?: unknown };

const ask = async (call: WireCall, events: readonly JsonObject[]): Promise<Sdk> => {
  const asked: Sdk = { sent: undefined, parts: [] };
  const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const model = createAnthropic({
    apiKey: 'key',
    baseURL: 'https://api.example.com/v1',
    fetch: async (_, init) => {
      asked.sent = JSON.parse(String(init?.body));
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
    },
  }).languageModel(call.upstream);
  try {
    const reader = (await model.doStream(optionsFor(call))).stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) asked.parts.push(next.value);
  } catch (failure) {
    asked.failure = failure;
  }
  return asked;
};

const optionsFor = ({ upstream, spec, request }: WireCall): LanguageModelV3CallOptions => {
  const { temperature, top_p, max_tokens, reasoning_effort } = request.overrides;
  const limit = spec.max_output_tokens;
  const maxOutputTokens = Math.min(max_tokens ?? Number.POSITIVE_INFINITY, limit ?? Number.POSITIVE_INFINITY);
  return {
    prompt: toPrompt(request, {
      modalities: spec.modalities,
      systemFirst: true,
      ownPictures: false,
      cacheMark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ id, description, parameters }) => {
        const fitted = schemaForModel(parameters);
        return {
          type: 'function' as const,
          name: nameForModel(id),
          description,
          inputSchema: 'schema' in fitted ? fitted.schema : { type: 'object' as const, properties: {} },
        };
      }),
    }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { topP: top_p }),
    ...(Number.isFinite(maxOutputTokens) && { maxOutputTokens }),
    ...(reasoning_effort != null && { providerOptions: anthropicEffort(reasoning_effort, upstream) }),
  };
};

export const sentBySdk = async (call: WireCall): Promise<unknown> =>
  (await ask(call, [{ type: 'message_stop' }])).sent;

export type Read = {
  heard: Heard[];
  end?: InferenceEnd;
  error?: ModelError;
  /** Events that the package could not read, each of which ends its completion. */
  unfit: unknown[];
};

/** Removes an event that the package cannot read, so that it reads the rest of the stream. */
export const readBySdk = async (events: readonly JsonObject[]): Promise<Read> => {
  const unfit: unknown[] = [];
  for (let left = events; ; ) {
    const { parts, failure } = await ask(
      callOf({ upstream: 'claude-sonnet-4-5', request: requestOf('x') }),
      left,
    );
    const value = unfitIn(parts, failure);
    if (value === undefined) return { ...receive(parts), unfit };
    unfit.push(value);
    const bad = left.find((event) => JSON.stringify(event) === value);
    if (!bad) throw new Error(`the package refused ${value}, which was not sent`);
    left = left.filter((event) => event !== bad);
  }
};

/** The unreadable event as text. */
const unfitIn = (parts: readonly LanguageModelV3StreamPart[], failure: unknown): string | undefined => {
  const errors = parts.flatMap((part) => (part.type === 'error' ? [part.error] : []));
  for (const error of [failure, ...errors]) {
    if (typeof error !== 'object' || error === null) continue;
    if ('value' in error) return JSON.stringify(error.value);
    // An error in the first event is wrapped in the error of a call.
    if (!('responseBody' in error) || typeof error.responseBody !== 'string') continue;
    const body = JSON.parse(error.responseBody);
    if (body.value !== undefined) return JSON.stringify(body.value);
  }
  return undefined;
};

const receive = (parts: readonly LanguageModelV3StreamPart[]): Omit<Read, 'unfit'> => {
  const heard: Heard[] = [];
  const receivePart = createPartReceiver(recordingSink(heard));
  try {
    for (const part of withoutServerCalls(parts)) {
      const end = receivePart(part);
      if (end) return { heard, end };
    }
    return { heard };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { heard, error };
  }
};

/** Removes the calls that the service executed: the package reports them with a flag that the receiver ignores. */
const withoutServerCalls = (parts: readonly LanguageModelV3StreamPart[]): LanguageModelV3StreamPart[] => {
  const executed = new Set<string>();
  for (const part of parts) {
    if (part.type === 'tool-input-start' && part.providerExecuted) executed.add(part.id);
  }
  return parts.filter(
    (part) =>
      !('id' in part && part.type.startsWith('tool-input') && executed.has(part.id ?? '')) &&
      !(part.type === 'tool-call' && executed.has(part.toolCallId)),
  );
};
