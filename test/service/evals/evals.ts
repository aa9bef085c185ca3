import type { Test } from 'tap';
import { z } from 'zod';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Provider } from '../../../src/models/model.ts';
import { EvalAggregate, EvalDiff, EvalRun, EvalRunSummary } from '../../../src/schema/eval-run.ts';
import { textOf } from '../../../src/schema/message.ts';
import { createTestModels } from '../models.ts';
import type { Answer } from '../troupe.ts';
import { ADMIN_TOKEN, startTroupe, type Troupe, type TroupeOptions } from '../troupe.ts';

/** A service with datasets, and models that tests control. */

export type Speak = (
  sink: InferenceSink,
  request: InferenceRequest,
  signal: AbortSignal,
) => InferenceEnd | Promise<InferenceEnd>;

export const says =
  (text: string, usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }): Speak =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn', usage };
  };

export const calls =
  (id: string, name: string, args: object = {}): Speak =>
  (sink) => {
    sink.toolStart(id, name);
    sink.toolEnd(id, JSON.stringify(args));
    return { stop: 'ToolUse' };
  };

/** Hangs until it is aborted. */
export const hangs: Speak = (_sink, _request, signal) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new ModelError('cancelled', '')));
  });

export const lastInput = ({ messages }: InferenceRequest): string =>
  textOf(messages.findLast(({ role }) => role === 'user')?.content ?? []);

export type Evals = Troupe & {
  /** Sets the completions of a model: one for all requests, or one after another. */
  speak(model: string, ...all: Speak[]): void;
  asked: { model: string; request: InferenceRequest }[];
  /** Replaces the dataset. */
  dataset(id: string, fixtures: object[]): Promise<void>;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a run and expects success. */
  evaluate(body: object): Promise<EvalRun>;
  get(id: string, query?: string): Promise<z.infer<typeof RunBody>>;
  list(query?: string): Promise<EvalRunSummary[]>;
};

const RunBody = z.object({
  run: EvalRun,
  diff: EvalDiff.optional(),
  aggregates: z.array(EvalAggregate).optional(),
});

const AUTHORIZED = { authorization: `Bearer ${ADMIN_TOKEN}` };

export const MODELS = ['m1', 'm2', 'judge', 'priced', 'half-priced'];

export const startEvals = async (t: Test, options: TroupeOptions = {}): Promise<Evals> => {
  const spoken = new Map<string, Speak[]>();
  const asked: Evals['asked'] = [];
  const provider: Provider = {
    id: 'spoken',
    model: ({ id, upstream_model }) => ({
      id,
      provider: 'spoken',
      upstream: upstream_model,
      async stream(request, sink, signal) {
        asked.push({ model: id, request });
        const all = spoken.get(id) ?? [says(`${id} heard: ${lastInput(request)}`)];
        const speak = all.length > 1 ? all.shift() : all[0];
        return speak ? speak(sink, request, signal) : { stop: 'EndTurn' };
      },
    }),
  };
  const prices = { input_token_price_per_million_usd: 1, output_token_price_per_million_usd: 2 };
  const models = MODELS.map((id) => ({
    id,
    provider_id: 'spoken',
    upstream_model: id,
    ...(id === 'priced' && prices),
    ...(id === 'half-priced' && { input_token_price_per_million_usd: 1 }),
  }));
  const troupe = await startTroupe(t, {
    ...options,
    settings: {
      AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true },
      ...options.settings,
    },
    app: {
      providers: [provider, createTestModels().provider],
      records: {
        agents: [],
        providers: [],
        model_pools: [],
        models,
      },
      ...options.app,
    },
  });
  const ask: Evals['ask'] = (method, path, body, headers) =>
    troupe.call(method, path, body, { ...AUTHORIZED, ...headers });
  const evals: Evals = Object.assign(Object.create(troupe, Object.getOwnPropertyDescriptors(troupe)), {
    asked,
    ask,
    speak(model: string, ...all: Speak[]) {
      spoken.set(model, all);
    },
    async dataset(id: string, fixtures: object[]) {
      const made = await ask('POST', '/v1/eval/datasets', { id, spec: { fixtures } });
      if (made.status === 201) return;
      const { status, body } = await ask('PUT', `/v1/eval/datasets/${id}`, { spec: { fixtures } });
      if (status !== 200) throw new Error(JSON.stringify({ made: made.body, body }));
    },
    async evaluate(body: object) {
      const answer = await ask('POST', '/v1/eval/runs', body);
      if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
      return RunBody.parse(answer.body).run;
    },
    async get(id: string, query = '') {
      return RunBody.parse((await ask('GET', `/v1/eval/runs/${id}${query}`)).body);
    },
    async list(query = '') {
      const { body } = await ask('GET', `/v1/eval/runs${query}`);
      return z.array(EvalRunSummary).parse(body.runs);
    },
  });
  return evals;
};

/** The report of the only item. */
export const only = ({ items }: EvalRun) => {
  const [item] = items;
  if (!item || items.length > 1) throw new Error(`${items.length} items`);
  return item.report;
};

export const responds = (content: string, tokens: object = {}) => ({
  kind: 'chat_response',
  content,
  tokens,
});
