import { type Guarded, isObject, list, number, object, optional, text } from '../../data/guard.ts';
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

export const FIELDS = [
  'provider_id',
  'upstream_model',
  'context_window',
  'max_output_tokens',
  'knowledge_cutoff',
  'input_token_price_per_million_usd',
  'output_token_price_per_million_usd',
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
      price('input_token_price_per_million_usd'),
      price('output_token_price_per_million_usd'),
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

export const kindsOf = ({ modalities }: Spec, direction: 'input' | 'output'): string[] => {
  const kinds = isObject(modalities) ? modalities[direction] : undefined;
  return Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === 'string') : [];
};
