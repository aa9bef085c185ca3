import type { JsonObject } from '../../schema/json.ts';
import type { ModelSpec } from '../../schema/model.ts';
import type { ProviderCall, ProviderToolType } from '../../schema/provider-tool.ts';
import type { InferenceRequest, InferenceSource, InferenceUsage, SentSettings } from '../model.ts';
import type { Framing } from '../transport/framing.ts';

/**
 * A wire format: how one protocol of model providers encodes a request and streams the completion.
 *
 * An encoder is a pure function of the call. A decoder is a state machine over the events of one stream: it reads the
 * known fields, with a type check at each read, ignores everything else, and writes to an `AnswerWriter`. It creates no
 * promise and no closure, and parses no schema, per event.
 */
export type Wire = {
  /** Name of the format in stored reasoning: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock`. */
  readonly format: string;
  /** How the body of a stream is divided into events; default: server-sent events. */
  readonly framing?: Framing;
  /** @throws ModelError `invalid_request` for content that the model is known not to accept */
  encode(call: WireCall): WireRequest;
  decoder(answer: AnswerWriter): Decoder;
};

export type WireCall = {
  /** The name of the model at the provider. */
  upstream: string;
  /** The id of the provider. */
  provider: string;
  /** The canonical adapter name; absent if unknown. */
  adapter?: string;
  spec: Pick<ModelSpec, 'modalities' | 'max_output_tokens'>;
  request: InferenceRequest;
  /** The data that the provider requires back after each pause of this completion, in order (`Finish.pause`). */
  pauses: readonly JsonObject[];
};

export type WireRequest = {
  /** Path relative to the base URL, without a leading `/`; includes the query. */
  path: string;
  /** Headers that the format requires, in lower case; keys and the headers of the provider's spec are added later. */
  headers: Record<string, string>;
  body: JsonObject;
  /** The settings in the body; absent: those of the request. */
  sent?: SentSettings;
};

/** The output of a decoder. A method throws a `ModelError` when the completion exceeds `BOUNDS`. */
export type AnswerWriter = {
  text(delta: string): void;
  reasoning(delta: string): void;
  /** Complete opaque text for readers of the run. Consecutive duplicates are reported once. */
  reasoningEncrypted(value: string): void;
  /**
   * Data that the next request to the same model must contain at this position of the completion. `tool`: the provider
   * tool to which it belongs.
   */
  reasoningItem(item: JsonObject, tool?: ProviderToolType): void;
  /** `data` is base64. */
  file(mediaType: string, data: string): void;
  /** A file that the provider stores at an address. */
  fileAt(mediaType: string, url: string): void;
  source(source: InferenceSource): void;
  /** A call of a tool that the provider executes, when it begins and after each change. */
  providerCall(call: ProviderCall): void;
  /** A second start with the same id has no effect. */
  callStart(id: string, name: string): void;
  callDelta(id: string, delta: string): void;
  /** `args` is the whole JSON text of the arguments, as the model wrote it. */
  callEnd(id: string, args: string): void;
  /** Replaces earlier usage field by field. */
  usage(usage: InferenceUsage): void;
  /** Whether the completion contains anything: text, reasoning, a call, a file or a source. */
  hasBegun(): boolean;
};

export type Decoder = {
  /**
   * Reads one event: its name (`''` without one) and its data.
   *
   * Returns whether the completion has ended, so that nothing after it is read.
   *
   * @throws ModelError for a failure that the provider reports in its stream
   */
  push(event: string, data: string): boolean;
  /** Whether the provider has reported the end of the completion, so that at most details such as usage follow. */
  isFinished(): boolean;
  /**
   * Reads the JSON body of a successful response that is not an event stream. Returns whether it was a whole
   * completion; an error or anything else is not.
   */
  whole(json: unknown): boolean;
  /** Ends open calls at the end of the body, even if the provider reported no end. */
  end(): Finish;
};

export type Finish = {
  /**
   * The provider's reason for the end of the completion. `missing`: it gave none. `failed`: it could not produce a
   * completion, and `raw` contains the reason. `paused`: the provider continues the completion when it receives `pause`
   * back.
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
  /** The provider's original value. */
  raw?: string;
  pause?: JsonObject;
};
