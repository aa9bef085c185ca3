import type { Breaker } from '../../src/models/breakers.ts';
import { ModelError, type ModelErrorClass } from '../../src/models/errors.ts';
import { callGuarded, type Guard } from '../../src/models/guarded.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Model } from '../../src/models/model.ts';
import { type OpeningRules, retryOpening, watchSink } from '../../src/models/opening.ts';
import { DEFAULT_RETRY, type Pause } from '../../src/models/retry.ts';
import { giveAnswer } from '../../src/models/scripted-answer.ts';

/** One call of a fake model; the last act is repeated. */
export type Act = (
  sink: InferenceSink,
  request: InferenceRequest,
  signal: AbortSignal,
) => InferenceEnd | Promise<InferenceEnd>;

export type FakeModel = Model & { readonly asked: readonly InferenceRequest[] };

export const fakeModel = (id: string, ...acts: readonly Act[]): FakeModel => {
  const asked: InferenceRequest[] = [];
  return {
    id,
    provider: `${id}-provider`,
    upstream: `${id}-upstream`,
    asked,
    async stream(request, sink, signal) {
      const act = acts[Math.min(asked.length, acts.length - 1)];
      asked.push(request);
      if (!act) throw new Error(`${id} has nothing to do`);
      return act(sink, request, signal);
    },
  };
};

export const says =
  (text: string): Act =>
  (sink) =>
    giveAnswer({ text }, sink);

export const fails =
  (kind: ModelErrorClass, options: { retryAfterSeconds?: number; detail?: string } = {}): Act =>
  () => {
    const { detail = 'why', ...more } = options;
    throw new ModelError(kind, detail, more);
  };

/** Sends some output and then fails. */
export const breaksOff =
  (
    begin: (sink: InferenceSink) => void,
    kind: ModelErrorClass = 'stream_interrupted',
    detail = 'goaway',
  ): Act =>
  (sink) => {
    begin(sink);
    throw new ModelError(kind, detail);
  };

/** A pause that returns immediately and records the requested durations. */
export const recordingPause = (): { pause: Pause; waited: number[] } => {
  const waited: number[] = [];
  return {
    waited,
    pause: async (ms) => {
      waited.push(ms);
    },
  };
};

/** The model with retries at the opening, and nothing else. */
export const withOpeningRetry = (model: Model, rules: OpeningRules): Model => ({
  ...model,
  stream(request, sink, signal) {
    const watched = watchSink(sink, signal);
    return retryOpening({ ...rules, signal, watched }, () => model.stream(request, watched.sink, signal));
  },
});

/** The model behind its breaker, and nothing else. */
export const withGuard = (model: Model, breaker: Breaker, more: Partial<Guard> = {}): Model => {
  const guard: Guard = {
    breaker,
    patienceMs: 0,
    waitsInLine: true,
    pause: recordingPause().pause,
    random: () => 0,
    maxRetryAfterMs: 60_000,
    settings: DEFAULT_RETRY,
    refusal: () => new ModelError('unavailable', ''),
    ...more,
  };
  return {
    ...model,
    stream(request, sink, signal) {
      const watched = watchSink(sink, signal);
      const call = { run_id: request.session?.run_id, watched, signal };
      return callGuarded(guard, call, () => model.stream(request, watched.sink, signal));
    },
  };
};
