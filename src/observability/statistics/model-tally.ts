import { addUsd } from '../../schema/usd.ts';
import type { StoredModel } from '../../store/index.ts';

/** Inferences of an agent by provider and model in one time bucket. */
export type ModelTally = StoredModel;

type Inference = {
  provider: string;
  model: string;
  /** Time of the end, in milliseconds. */
  at: number;
  /** The class of the failure. */
  error?: string | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  usd?: number | undefined;
};

/** Past this number of models in a bucket of an agent, others count in its totals only. */
const MOST_MODELS = 1000;

type Tallies = Map<string, ModelTally>;

const keyOf = ({ provider_id, model }: Pick<ModelTally, 'provider_id' | 'model'>): string =>
  JSON.stringify([provider_id, model]);

const tallyOf = (models: Tallies, provider_id: string, model: string): ModelTally | undefined => {
  const key = keyOf({ provider_id, model });
  const known = models.get(key);
  if (known || models.size >= MOST_MODELS) return known;
  const tally: ModelTally = {
    provider_id,
    model,
    inference_count: 0,
    error_count: 0,
    input_tokens: 0,
    output_tokens: 0,
  };
  models.set(key, tally);
  return tally;
};

const addCost = (tally: ModelTally, usd: number | undefined): void => {
  const cost = addUsd(tally.cost_usd, usd);
  if (cost !== undefined) tally.cost_usd = cost;
};

export const addToModel = (models: Tallies, inference: Inference): void => {
  const { provider, model, at, error, inputTokens = 0, outputTokens = 0, usd } = inference;
  const tally = tallyOf(models, provider, model);
  if (!tally) return;
  tally.inference_count += 1;
  if (error === undefined) tally.last_success_at = at;
  else {
    tally.error_count += 1;
    tally.last_error = { class: error, at };
  }
  tally.input_tokens += Math.max(0, inputTokens);
  tally.output_tokens += Math.max(0, outputTokens);
  addCost(tally, usd);
};

/** Adds the cost of an interrupted attempt. */
export const addCutOffToModel = (
  models: Tallies,
  { provider, model, usd }: { provider: string; model: string; usd?: number | undefined },
): void => {
  const tally = tallyOf(models, provider, model);
  if (tally) addCost(tally, usd);
};

export const keptModels = (models: Tallies): StoredModel[] => [...models.values()].map((one) => ({ ...one }));

export const restoredModels = (stored: readonly StoredModel[]): Tallies =>
  new Map(stored.map((one) => [keyOf(one), { ...one }]));

/** Adds up the models of several buckets, sorted by provider and model. */
export const sumOfModels = (buckets: readonly { models: Tallies }[]): ModelTally[] => {
  const sums: Tallies = new Map();
  for (const { models } of buckets) {
    for (const [key, one] of models) {
      const sum = sums.get(key);
      if (sum) addTally(sum, one);
      else sums.set(key, { ...one });
    }
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
};

const addTally = (sum: ModelTally, one: ModelTally): void => {
  for (const name of ['inference_count', 'error_count', 'input_tokens', 'output_tokens'] as const) {
    sum[name] += one[name];
  }
  addCost(sum, one.cost_usd);
  const { last_success_at: success = 0, last_error: error } = one;
  if (success > (sum.last_success_at ?? 0)) sum.last_success_at = success;
  if (error && error.at >= (sum.last_error?.at ?? 0)) sum.last_error = error;
};
