import { type Guarded, type JsonObject, list, number, object, text, withDefault } from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { send } from '../../data/request.ts';
import { type ModelFigures, modelFigures } from '../../data/resources.ts';
import { type Spec, textOf } from '../../entry/entry.ts';
import type { Found } from '../../entry/use-entry.ts';
import { Item } from '../../eval-results/report.ts';
import { say } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

const Model = object({ id: text, provider_id: text, upstream_model: text, ...modelFigures });
export type Model = Guarded<typeof Model>;

export const MODELS = recordsOf('models', Model);

export const PRICES = ['input_token_price_per_million_usd', 'output_token_price_per_million_usd'] as const;

/** Prices of parts of the tokens, each with the price of all of them. */
const PARTS = {
  cached_input_token_price_per_million_usd: PRICES[0],
  cache_write_5m_token_price_per_million_usd: PRICES[0],
  cache_write_1h_token_price_per_million_usd: PRICES[0],
  reasoning_token_price_per_million_usd: PRICES[1],
} as const;

export const LIMITS = ['context_window', 'max_output_tokens'] as const;
export const PART_PRICES = Object.keys(PARTS);

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/**
 * The figures that the service applies to empty fields of the draft, as defaults of these fields. A price of the entry
 * also replaces the built-in prices of the parts of its tokens.
 */
export const defaultsOf = (draft: Spec, known: ModelFigures): Record<string, JsonObject> => {
  const replaced = Object.entries(PARTS).filter(([, whole]) => !isEmpty(draft[whole]));
  const { modalities: _, ...figures } = known;
  return Object.fromEntries(
    Object.entries(figures)
      .filter(([field, value]) => value !== undefined && replaced.every(([part]) => part !== field))
      .map(([field, value]) => [field, { default: value }]),
  );
};

/** Accepts `YYYY-MM` or `YYYY-MM-DD` with an existing date. */
export const isDate = (typed: string): boolean => {
  if (!/^\d{4}-\d{2}(-\d{2})?$/.test(typed)) return false;
  const day = typed.length === 7 ? `${typed}-01` : typed;
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
};

/** Rules between fields. */
export const check = ({
  knowledge_cutoff,
  context_window: window,
  max_output_tokens: most,
}: Spec): Found[] => {
  const found: Found[] = [];
  if (typeof window === 'number' && typeof most === 'number' && most > window)
    found.push(['max_output_tokens', say(texts, 'problem.output', { window })]);
  const cutoff = textOf(knowledge_cutoff).trim();
  if (cutoff !== '' && !isDate(cutoff)) found.push(['knowledge_cutoff', say(texts, 'problem.cutoff')]);
  return found;
};

// ---- Tests of a prompt, whose results are not stored ----

const Online = object({ run: object({ items: list(Item) }) });

export const Question = object({
  prompt: withDefault(text, ''),
  models: list(text),
  seconds: number,
  tokens: number,
});
export type Question = Guarded<typeof Question>;

/** Responses in the order of the models. @throws RequestError */
export const askModels = async (
  { prompt, models, seconds, tokens }: Question,
  signal: AbortSignal,
): Promise<Item[]> => {
  const body = {
    user_input: prompt,
    models,
    persist: false,
    max_walltime_secs: seconds,
    max_total_tokens: tokens,
  };
  const { run } = await send({ method: 'POST', path: '/v1/eval/online', body, signal }, Online);
  return run.items;
};

/** The reason for a missing response; undefined if there is one. */
export const failureOf = ({ runtime_failure: failure }: Pick<Item['report'], 'runtime_failure'>) =>
  failure && (textOf(failure.message) || JSON.stringify(failure));
