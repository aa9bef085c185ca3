import type { AnswerPart } from '../schema/answer-part.ts';
import type { ReasoningItem } from '../schema/message.ts';
import type { ProviderCall } from '../schema/provider-tool.ts';
import { ModelError, type ModelErrorClass } from './errors.ts';
import type { InferenceEnd, InferenceSink, InferenceSource } from './model.ts';
import { backoffMs, type Pause, type Random, type RetrySettings, spread } from './retry.ts';

/**
 * Retries an inference that failed before any output (agent-loop.md 9.3).
 *
 * Guarantees: the sink never receives the same output twice; an abort ends a wait immediately; the last failure is the
 * one that is thrown. If a provider requests a longer wait than the service permits, neither this inference nor a later
 * attempt of the run retries. Cost: one call per delta.
 */

const RETRIED: ReadonlySet<ModelErrorClass> = new Set(['rate_limited', 'overloaded', 'timeout', 'provider']);

export const isRetried = (error: ModelError): boolean => RETRIED.has(error.class);

export type OpeningRules = {
  settings: RetrySettings;
  pause: Pause;
  random: Random;
  /** Longest wait that a provider may request. */
  maxRetryAfterMs: number;
  /** Whether another call of the same model may succeed. */
  retries(error: ModelError): boolean;
};

export type Opening = OpeningRules & {
  signal: AbortSignal;
  watched: WatchedSink;
};

export const retryOpening = async (
  { settings, pause, random, maxRetryAfterMs, signal, watched, retries }: Opening,
  attempt: () => Promise<InferenceEnd>,
): Promise<InferenceEnd> => {
  for (let retry = 0; ; retry += 1) {
    try {
      return await attempt();
    } catch (error) {
      const failure = repeatableFailure(error, maxRetryAfterMs);
      if (watched.hasBegun() || !retries(failure) || retry >= settings.max_retries) throw failure;
      const wait_ms = spread(backoffMs(settings, failure, retry), random);
      watched.sink.retrying?.({ error: failure.message, wait_ms });
      await pause(wait_ms, signal);
      if (signal.aborted) throw new ModelError('cancelled', '');
    }
  }
};

/** @throws the error if the provider was not called, or may not be called again soon enough */
const repeatableFailure = (error: unknown, maxRetryAfterMs: number): ModelError => {
  if (!(error instanceof ModelError) || error.heldBack) throw error;
  if (asksTooMuch(error, maxRetryAfterMs)) throw asIsNotWaitedFor(error, maxRetryAfterMs);
  return error;
};

const asksTooMuch = ({ retryAfterSeconds = 0 }: ModelError, mostMs: number): boolean =>
  retryAfterSeconds * 1000 > mostMs;

const asIsNotWaitedFor = (error: ModelError, mostMs: number): ModelError =>
  error.ended(`it asks to wait ${error.retryAfterSeconds} s, and no more than ${mostMs / 1000} s are waited`);

export type WatchedSink = {
  sink: InferenceSink;
  hasBegun(): boolean;
  /** Calls the listener at the first event; replaces the previous listener. */
  onFirst(listener: () => void): void;
};

/**
 * Wraps the sink to record whether it received anything. Output after an abort is dropped, in case a model ignores its
 * signal.
 */
export const watchSink = (sink: InferenceSink, signal: AbortSignal): WatchedSink => {
  let hasBegun = false;
  let first = (): void => {};
  const noting =
    <Args extends unknown[]>(forward: (...args: Args) => void) =>
    (...args: Args): void => {
      if (signal.aborted) return;
      if (!hasBegun) {
        hasBegun = true;
        first();
      }
      forward(...args);
    };
  return {
    sink: {
      ...sink,
      text: noting((delta: string) => sink.text(delta)),
      reasoning: noting((delta: string) => sink.reasoning(delta)),
      reasoningEncrypted: noting((value: string) => sink.reasoningEncrypted(value)),
      ...(sink.reasoningItem && {
        reasoningItem: noting((item: Omit<ReasoningItem, 'after'>) => sink.reasoningItem?.(item)),
      }),
      ...(sink.part && { part: noting((part: AnswerPart) => sink.part?.(part)) }),
      ...(sink.source && { source: noting((source: InferenceSource) => sink.source?.(source)) }),
      ...(sink.providerCall && {
        providerCall: noting((call: ProviderCall) => sink.providerCall?.(call)),
      }),
      toolStart: noting((id: string, name: string) => sink.toolStart(id, name)),
      toolDelta: noting((id: string, delta: string) => sink.toolDelta(id, delta)),
      toolEnd: noting((id: string, args: string) => sink.toolEnd(id, args)),
    },
    hasBegun: () => hasBegun,
    onFirst(listener) {
      first = listener;
    },
  };
};
