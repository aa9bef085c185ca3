import { isObject, type JsonObject } from '../data/guard.ts';
import { useTexts } from '../i18n/locale.ts';
import { useForm, useWordAt } from './context.ts';
import { listIn, uiOf } from './hints.ts';
import { placeOf, type Schema, seen } from './schema.ts';
import { startOf } from './start.ts';
import texts from './texts.json' with { type: 'json' };

/** The variants of a choice, as options of one select. */
export type Variant = {
  /** The key of its texts. */
  key: string;
  name: string;
  schema: Schema;
  /** The value of an option without inputs, or the initial value of the variant. */
  value: unknown;
  isFixed: boolean;
};

type Kind = 'text' | 'number' | 'flag' | 'list' | 'object' | 'json';

const KINDS: readonly string[] = ['text', 'number', 'flag', 'list', 'object', 'json'];
const isKind = (key: string): key is Kind => KINDS.includes(key);

/** The key of a variant: its title, what distinguishes it from the others, or its kind. */
export const variantKey = (variant: Schema, root: Schema): string => {
  const { schema, view } = seen(variant, root);
  if (typeof schema.title === 'string') return schema.title;
  if (view.kind === 'const') return String(view.value);
  if (view.kind === 'enum') return view.options.join(' / ');
  if (view.kind === 'choice') return 'json';
  if (view.kind !== 'object') return view.kind;
  const constants = view.properties.flatMap(({ schema: property }) => {
    const inner = seen(property, root).view;
    return inner.kind === 'const' ? [String(inner.value)] : [];
  });
  return constants.join(' ') || view.properties.map(({ name }) => name).join(', ') || 'object';
};

type Plain = Pick<Variant, 'schema' | 'value' | 'isFixed'>;

/** Options of enums and variants of nested choices become variants of the choice. */
const flattened = (raw: Schema, root: Schema): Plain[] => {
  const { view } = seen(raw, root);
  if (view.kind === 'choice') return view.variants.flatMap((variant) => flattened(variant, root));
  if (view.kind === 'enum')
    return view.options.map((value) => ({ schema: { const: value }, value, isFixed: true }));
  return [{ schema: raw, value: startOf(raw, root), isFixed: view.kind === 'const' }];
};

/** The variants of a choice between values of different kinds; empty for other schemas. */
export const variantsOf = (raw: Schema, root: Schema): Plain[] =>
  seen(raw, root).view.kind === 'choice' ? flattened(raw, root) : [];

/** Names the variants. `ui:start` contains initial members by key, and `ui:skip` the keys that are not offered. */
export const useVariants = (raw: Schema, path: string, ui: JsonObject): Variant[] => {
  const t = useTexts(texts);
  const wordAt = useWordAt();
  const { root } = useForm();
  const skipped = listIn(ui, 'ui:skip');
  return variantsOf(raw, root)
    .map((variant, index) => {
      const key = variantKey(variant.schema, root);
      const given = listIn(ui, 'ui:enumNames')[index];
      const usual = isKind(key) ? t(`variant.${key}`) : key;
      const start = uiOf(uiOf(ui, 'ui:start'), key);
      return {
        ...variant,
        key,
        name:
          wordAt(placeOf(path, key), 'variant') ??
          wordAt(placeOf(path, key)) ??
          (typeof given === 'string' ? given : usual),
        value: isObject(variant.value) ? { ...variant.value, ...start } : variant.value,
      };
    })
    .filter(({ key }) => !skipped.includes(key));
};
