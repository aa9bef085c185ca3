import type { JsonObject } from '../../schema/json.ts';
import type { ModelSpec } from '../../schema/model.ts';
import type { ProviderCall, ProviderToolType } from '../../schema/provider-tool.ts';
import type { InferenceRequest, InferenceSource, InferenceUsage, SentSettings } from '../model.ts';
import type { Framing } from '../transport/framing.ts';

/**
 * A wire format: how one protocol of model providers asks for an answer, and how it streams the answer back.
 *
 * An encoder is a pure function of the call. A decoder is a state machine over the events of one stream: it reads the
 * fields that it knows, with a type check at each read, ignores everything else, and writes to an `AnswerWriter`. It
 * creates no promise, no closure and no schema parse per event.
 */
export type Wire = {
  /** Name of the format in stored reasoning: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock`. */
  readonly format: string;
  /** How the body of a stream is divided into events; server-sent events unless a format says otherwise. */
  readonly framing?: Framing;
  /** @throws ModelError `invalid_request` for content that the model is known not to accept */
  encode(call: WireCall): WireRequest;
  decoder(answer: AnswerWriter): Decoder;
};

export type WireCall = {
  /** Name of the model at the provider. */
  upstream: string;
  /** id of the provider */
  provider: string;
  /** In the spelling of the table of adapters; absent: unknown. */
  adapter?: string;
  spec: Pick<ModelSpec, 'modalities' | 'max_output_tokens'>;
  request: InferenceRequest;
  /** What the provider wants repeated after each pause of this same answer, in order (`Finish.pause`). */
  pauses: readonly JsonObject[];
};

export type WireRequest = {
  /** Relative to the base URL, without a `/` at its beginning; with its query. */
  path: string;
  /** Those that the format requires, in lower case; keys and the headers of the provider's spec are added later. */
  headers: Record<string, string>;
  body: JsonObject;
  /** The settings of the request as the body has them; absent: those of the request. */
  sent?: SentSettings;
};

/** Where a decoder writes what it reads. A method may throw a `ModelError`, when the answer exceeds `BOUNDS`. */
export type AnswerWriter = {
  text(delta: string): void;
  reasoning(delta: string): void;
  /** Opaque text, complete, that readers of the run are shown. The same text twice in a row is reported once. */
  reasoningEncrypted(value: string): void;
  /**
   * What the next request to the same model must contain, at this place of the answer. `tool`: the tool of the
   * provider that it belongs to.
   */
  reasoningItem(item: JsonObject, tool?: ProviderToolType): void;
  /** `data` is base64. */
  file(mediaType: string, data: string): void;
  /** A file that the provider keeps at an address. */
  fileAt(mediaType: string, url: string): void;
  source(source: InferenceSource): void;
  /** A call of a tool that the provider executes, when it begins and with each change. */
  providerCall(call: ProviderCall): void;
  /** A second start with the same id has no effect. */
  callStart(id: string, name: string): void;
  callDelta(id: string, delta: string): void;
  /** `args` is the whole JSON text of the arguments, as the model wrote it. */
  callEnd(id: string, args: string): void;
  /** Replaces, field by field, what was reported before. */
  usage(usage: InferenceUsage): void;
  /** Whether the answer holds anything: text, reasoning, a call, a file or a source. */
  hasBegun(): boolean;
};

export type Decoder = {
  /**
   * Reads one event: its name (`''` without one) and its data.
   *
   * Returns whether the answer is complete, so that nothing after it is read.
   *
   * @throws ModelError for a failure that the provider reports in its stream
   */
  push(event: string, data: string): boolean;
  /** The provider has said how the answer ended, and at most details such as usage follow. */
  isFinished(): boolean;
  /**
   * A body of JSON that is no event stream, with a status of success. Returns whether it was a whole answer; an
   * error or anything else is not.
   */
  whole(json: unknown): boolean;
  /** Nothing follows; also called when the body ended without the provider's word. Ends calls that are still open. */
  end(): Finish;
};

export type Finish = {
  /**
   * How the provider says that the answer ended. `missing`: it did not say. `failed`: it could not give an answer, and
   * `raw` says why. `paused`: the provider continues the answer when it is sent `pause` back.
   */
  reason:
    | 'stop'
    | 'length'
    | 'calls'
    | 'stop_sequence'
    | 'filtered'
    | 'failed'
    | 'paused'
    | 'missing'
    | 'other';
  /** The provider's own word. */
  raw?: string;
  pause?: JsonObject;
};
