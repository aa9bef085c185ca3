import { createAnswer } from '../../../src/models/answer.ts';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceEnd, InferenceSource } from '../../../src/models/model.ts';
import type { AnswerWriter, Wire, WireCall } from '../../../src/models/wire/wire.ts';
import type { AnswerPart } from '../../../src/schema/answer-part.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { type Heard, recordingSink, requestOf } from '../infer.ts';

/** The outcome of decoding a stream. */
export type Decoded = {
  heard: Heard[];
  items: JsonObject[];
  parts: AnswerPart[];
  sources: InferenceSource[];
  end?: InferenceEnd;
  error?: ModelError;
};

export type Sent = readonly [name: string, data: string];

/**
 * Events as a provider sends them: `type` is also the name of the event, as in Anthropic's and the Responses protocol.
 */
export const named = (events: readonly (JsonObject & { type: string })[]): Sent[] =>
  events.map((event) => [event.type, JSON.stringify(event)]);

export const unnamed = (events: readonly (JsonObject | string)[]): Sent[] =>
  events.map((event) => ['', typeof event === 'string' ? event : JSON.stringify(event)]);

/** Pushes the events until the completion ends, then ends it. */
export const decode = (wire: Wire, events: readonly Sent[]): Decoded => {
  const decoded: Decoded = { heard: [], items: [], parts: [], sources: [] };
  const answer = createAnswer(
    {
      ...recordingSink(decoded.heard),
      reasoningItem: ({ item }) => decoded.items.push(item),
      part: (part) => decoded.parts.push(part),
      source: (source) => decoded.sources.push(source),
    },
    { provider: 'p', model: 'm', format: wire.format },
  );
  try {
    const decoder = wire.decoder(answer);
    for (const [name, data] of events) if (decoder.push(name, data)) break;
    decoded.end = answer.end(decoder.end());
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    decoded.error = error;
  }
  return decoded;
};

export const callOf = (more: Partial<WireCall> = {}): WireCall => ({
  upstream: 'm',
  provider: 'p',
  spec: {},
  request: requestOf('Hi'),
  pauses: [],
  ...more,
});

const ignore = (): void => {};

/** A writer without a reader, for tests of the return value or error of a decoder. */
export const SILENT: AnswerWriter = {
  text: ignore,
  reasoning: ignore,
  reasoningEncrypted: ignore,
  reasoningItem: ignore,
  file: ignore,
  fileAt: ignore,
  source: ignore,
  providerCall: ignore,
  callStart: ignore,
  callDelta: ignore,
  callEnd: ignore,
  usage: ignore,
  hasBegun: () => true,
};
