import {
  type Guarded,
  isObject,
  type JsonObject,
  list,
  number,
  object,
  optional,
  text,
} from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { allOf, count, price, required } from '../../entry/checks.ts';
import { type EntryKind, type Errors, type Spec, textOf } from '../../entry/entry.ts';
import { say } from '../../i18n/locale.ts';
import { SETTINGS } from '../../model-settings/settings.ts';
import { texts } from './texts.ts';

export const MODEL: EntryKind = { namespace: 'models', entity: 'entity.model' };

const Modalities = object({ input: optional(list(text)), output: optional(list(text)) });

const Model = object({
  id: text,
  provider_id: text,
  upstream_model: text,
  context_window: optional(number),
  input_token_price_per_million_usd: optional(number),
  output_token_price_per_million_usd: optional(number),
  modalities: optional(Modalities),
});
export type Model = Guarded<typeof Model>;

export const MODELS = recordsOf('models', Model);

export const MODALITIES = ['text', 'image', 'audio', 'video', 'pdf'];

/**
 * Prices of an entry, and of which price each is a part: a base price of the entry also replaces the known prices of its
 * parts.
 */
export const PRICES = [
  { field: 'input_token_price_per_million_usd', text: 'priceIn' },
  { field: 'output_token_price_per_million_usd', text: 'priceOut' },
] as const;
export const PART_PRICES = [
  {
    field: 'cached_input_token_price_per_million_usd',
    text: 'priceCached',
    base: 'input_token_price_per_million_usd',
  },
  {
    field: 'reasoning_token_price_per_million_usd',
    text: 'priceReasoning',
    base: 'output_token_price_per_million_usd',
  },
  {
    field: 'cache_write_5m_token_price_per_million_usd',
    text: 'priceWrite5m',
    base: 'input_token_price_per_million_usd',
  },
  {
    field: 'cache_write_1h_token_price_per_million_usd',
    text: 'priceWrite1h',
    base: 'input_token_price_per_million_usd',
  },
] as const;

const ALL_PRICES = [...PRICES, ...PART_PRICES].map(({ field }) => field);

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** What the service knows of the upstream model and applies to a field that is left empty, by field. */
export const placeholdersOf = (draft: Spec, known: JsonObject): ReadonlyMap<string, string> => {
  const replaced = new Set<string>(
    PART_PRICES.flatMap(({ field, base }) => (isEmpty(draft[base]) ? [] : [field])),
  );
  return new Map(
    ['context_window', 'max_output_tokens', 'knowledge_cutoff', ...ALL_PRICES].flatMap((field) => {
      const value = known[field];
      const isShown = (typeof value === 'number' || typeof value === 'string') && !replaced.has(field);
      return isShown ? [[field, String(value)] as const] : [];
    }),
  );
};

export const FIELDS = [
  'provider_id',
  'upstream_model',
  'context_window',
  'max_output_tokens',
  'knowledge_cutoff',
  ...ALL_PRICES,
  'modalities',
  ...SETTINGS,
];

/** `YYYY-MM` or `YYYY-MM-DD`, a day that the calendar has. */
export const isDate = (typed: string): boolean => {
  if (!/^\d{4}-\d{2}(-\d{2})?$/.test(typed)) return false;
  const day = typed.length === 7 ? `${typed}-01` : typed;
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
};

const cutoff = ({ knowledge_cutoff }: Spec): [string, string][] => {
  const typed = textOf(knowledge_cutoff).trim();
  return typed === '' || isDate(typed) ? [] : [['knowledge_cutoff', say(texts, 'problem.cutoff')]];
};

const output = ({ context_window: window, max_output_tokens: most }: Spec): [string, string][] =>
  typeof window === 'number' && typeof most === 'number' && most > window
    ? [['max_output_tokens', say(texts, 'problem.output', { window })]]
    : [];

/** @param pools their ids: a model cannot have them */
export const check =
  (pools: ReadonlySet<string>) =>
  (draft: Spec): Errors =>
    allOf(
      () => (pools.has(draft.id) ? [['id', say(texts, 'problem.pool')]] : []),
      required('provider_id'),
      required('upstream_model'),
      count('context_window', 1),
      count('max_output_tokens', 1),
      () => output(draft),
      () => cutoff(draft),
      ...ALL_PRICES.map(price),
    )(draft);

/** One kind more or less in a direction; undefined where nothing is left. */
export const withModality = (
  draft: Spec,
  direction: 'input' | 'output',
  kind: string,
  isTaken: boolean,
): { modalities: unknown } => {
  const given = isObject(draft.modalities) ? draft.modalities : {};
  const before = new Set(kindsOf(draft, direction));
  if (isTaken) before.add(kind);
  else before.delete(kind);
  const next = Object.entries({
    ...given,
    [direction]: MODALITIES.filter((each) => before.has(each)),
  }).filter(([, kinds]) => Array.isArray(kinds) && kinds.length > 0);
  return { modalities: next.length === 0 ? undefined : Object.fromEntries(next) };
};

export const kindsOf = ({ modalities }: JsonObject, direction: 'input' | 'output'): string[] => {
  const kinds = isObject(modalities) ? modalities[direction] : undefined;
  return Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === 'string') : [];
};
