import type { AnswerPart } from '../schema/answer-part.ts';
import type { ReasoningItem } from '../schema/message.ts';
import type { ProviderCall } from '../schema/provider-tool.ts';
import { ModelError, type ModelErrorClass } from './errors.ts';
import type { InferenceEnd, InferenceSink, InferenceSource } from './model.ts';
import { backoffMs, type Pause, type Random, type RetrySettings, spread } from './retry.ts';

/**
 * Repeats an inference that failed before it said anything (agent-loop.md 9.3).
 *
 * Guarantees: nothing the sink heard is ever said twice; the signal ends a wait at once; the last failure is the
 * one that is thrown. Nobody is told of a retry. A provider that asks for a longer wait than the service grants is not
 * asked again, here or by a later attempt of the run. Costs: one call a delta.
 */

const RETRIED: ReadonlySet<ModelErrorClass> = new Set(['rate_limited', 'overloaded', 'timeout', 'provider']);

export const isRetried = (error: ModelError): boolean => RETRIED.has(error.class);

export type OpeningRules = {
  settings: RetrySettings;
  pause: Pause;
  random: Random;
  /** The longest wait that a provider may ask for. */
  maxRetryAfterMs: number;
  /** Whether another call of the same model makes sense. */
  retries(error: ModelError): boolean;
};

export type Opening = OpeningRules & {
  signal: AbortSignal;
  /** Whether the sink has received anything. */
  begun(): boolean;
};

export const retryOpening = async (
  { settings, pause, random, maxRetryAfterMs, signal, begun, retries }: Opening,
  attempt: () => Promise<InferenceEnd>,
): Promise<InferenceEnd> => {
  for (let retry = 0; ; retry += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ModelError) || error.heldBack) throw error;
      if (asksTooMuch(error, maxRetryAfterMs)) throw asIsNotWaitedFor(error, maxRetryAfterMs);
      if (begun() || !retries(error) || retry >= settings.max_retries) throw error;
      await pause(spread(backoffMs(settings, error, retry), random), signal);
      if (signal.aborted) throw new ModelError('cancelled', '');
    }
  }
};

const asksTooMuch = ({ retryAfterSeconds = 0 }: ModelError, mostMs: number): boolean =>
  retryAfterSeconds * 1000 > mostMs;

const asIsNotWaitedFor = (error: ModelError, mostMs: number): ModelError =>
  error.ended(`it asks to wait ${error.retryAfterSeconds} s, and no more than ${mostMs / 1000} s are waited`);

export type WatchedSink = {
  sink: InferenceSink;
  begun(): boolean;
  /** Calls the listener at the first event, in place of the listener before. */
  onFirst(listener: () => void): void;
};

/** The sink, with a note of whether it was told anything. A model that does not look at its signal is not heard. */
export const watchSink = (sink: InferenceSink, signal: AbortSignal): WatchedSink => {
  let begun = false;
  let first = (): void => {};
  const noting =
    <Args extends unknown[]>(tell: (...args: Args) => void) =>
    (...args: Args): void => {
      if (signal.aborted) return;
      if (!begun) {
        begun = true;
        first();
      }
      tell(...args);
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
    begun: () => begun,
    onFirst(listener) {
      first = listener;
    },
  };
};
