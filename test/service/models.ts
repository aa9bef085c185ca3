import { ModelError } from '../../src/models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Provider } from '../../src/models/model.ts';
import { giveAnswer } from '../../src/models/scripted-answer.ts';
import type { EntriesInput } from '../../src/settings/entries.ts';

/**
 * Models that a test controls, used by agents of the same names: `slow` streams `partial` and then waits until it is
 * released; `flaky` fails with the errors that the test has queued; `steps` executes a list of scripted inferences;
 * `echo` returns the last user text.
 */

export type Inference = (
  sink: InferenceSink,
  request: InferenceRequest,
  signal: AbortSignal,
) => InferenceEnd | Promise<InferenceEnd>;

export type Call = [id: string, tool: string, args?: object];

/** A completion with these tool calls. */
export const asks =
  (...calls: Call[]): Inference =>
  (sink) =>
    giveAnswer({ calls: calls.map(([id, tool, args = {}]) => ({ id, tool, args })) }, sink);

/** Streams this text, if any, and then nothing until the run ends. */
export const hangs =
  (first = ''): Inference =>
  (sink, _, signal) => {
    if (first !== '') sink.text(first);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new ModelError('cancelled', '')));
    });
  };

export type TestModels = {
  provider: Provider;
  entries: EntriesInput;
  /** Requests that the models received, oldest first. */
  requests: { model: string; request: InferenceRequest }[];
  /** Releases the slow inferences that are waiting, or else the next one. */
  release(): void;
  /** Releases the slow inferences that are waiting, if any. */
  releaseAll(): void;
  /** The number of slow inferences that are waiting. */
  waiting(): number;
  /** Errors of the next inferences of `flaky`, in order. */
  failures: ModelError[];
  /** The next inferences of `steps`, in order. */
  steps: Inference[];
};

const NAMES = ['slow', 'flaky', 'steps', 'echo'] as const;

const NO_RETRY = { max_retries: 0, max_stream_retries: 0 };

export const createTestModels = (): TestModels => {
  const waiting = new Set<() => void>();
  /** The next slow inference does not wait. */
  let isOwed = false;
  const end = (): InferenceEnd => ({
    stop: 'EndTurn',
    usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
  });

  const slow = (sink: InferenceSink, signal: AbortSignal): Promise<InferenceEnd> =>
    new Promise((resolve, reject) => {
      sink.text('partial');
      const go = (): void => {
        waiting.delete(go);
        sink.text(' answer');
        resolve(end());
      };
      waiting.add(go);
      if (isOwed) go();
      isOwed = false;
      signal.addEventListener('abort', () => {
        waiting.delete(go);
        reject(new ModelError('cancelled', ''));
      });
    });

  const models: TestModels = {
    requests: [],
    failures: [],
    steps: [],
    release: () => {
      isOwed = waiting.size === 0;
      models.releaseAll();
    },
    releaseAll: () => {
      for (const go of [...waiting]) go();
    },
    waiting: () => waiting.size,
    provider: {
      id: 'test',
      model: (spec) => ({
        id: spec.id,
        provider: 'test',
        upstream: spec.upstream_model,
        async stream(request, sink, signal) {
          models.requests.push({ model: spec.id, request });
          if (spec.id === 'slow') return slow(sink, signal);
          if (spec.id === 'flaky') {
            sink.text('half');
            const failure = models.failures.shift();
            if (failure) throw failure;
          }
          const step = spec.id === 'steps' ? models.steps.shift() : undefined;
          if (step) return step(sink, request, signal);
          sink.text(`echo: ${lastUserText(request)}`);
          return end();
        },
      }),
    },
    entries: {
      models: NAMES.map((id) => ({ id, provider_id: 'test', upstream_model: `${id}-upstream` })),
      // A failure in these tests reaches the loop: the model layer does not retry.
      agents: NAMES.map((id) => ({ id, model_id: id, max_rounds: 8, sections: { retry: NO_RETRY } })),
    },
  };
  return models;
};

const lastUserText = (request: InferenceRequest): string => {
  const message = request.messages.findLast(({ role }) => role === 'user');
  return message?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? '';
};
