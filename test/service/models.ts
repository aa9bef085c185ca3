import { ModelError } from '../../src/models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Provider } from '../../src/models/model.ts';
import { giveAnswer } from '../../src/models/scripted-answer.ts';
import type { EntriesInput } from '../../src/settings/entries.ts';

/**
 * Models that a test steers. Agents of the same name use them:
 * `slow` answers `partial` and then waits until it is released; `flaky` and `broken` fail with the errors that
 * the test has put up; `steps` plays a list of scripted inferences; `echo` answers the last user text.
 */

export type Inference = (
  sink: InferenceSink,
  request: InferenceRequest,
  signal: AbortSignal,
) => InferenceEnd | Promise<InferenceEnd>;

export type Call = [id: string, tool: string, args?: object];

/** The model asks for these calls. */
export const asks =
  (...calls: Call[]): Inference =>
  (sink) =>
    giveAnswer({ calls: calls.map(([id, tool, args = {}]) => ({ id, tool, args })) }, sink);

/** The model says this much, if anything, and nothing more until its run ends. */
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
  /** What the models were asked, the oldest first. */
  requests: { model: string; request: InferenceRequest }[];
  /** Lets the slow inferences that wait go on; when none waits yet, the next one. */
  release(): void;
  /** Lets those go on that wait, if there are any. */
  releaseAll(): void;
  /** How many slow inferences wait now. */
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
  /** The next one does not have to wait. */
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
      // What fails in these tests fails for the loop: the model layer does not try again.
      agents: NAMES.map((id) => ({ id, model_id: id, max_rounds: 8, sections: { retry: NO_RETRY } })),
    },
  };
  return models;
};

const lastUserText = (request: InferenceRequest): string => {
  const message = request.messages.findLast(({ role }) => role === 'user');
  return message?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? '';
};
