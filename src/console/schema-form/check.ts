import { isObject } from '../data/guard.ts';
import type { Values } from '../i18n/texts.ts';
import { expressionOf } from './expressions.ts';
import { placeOf, type Schema, type Seen, seen, type View } from './schema.ts';
import type texts from './texts.json';

/** Validates a value against the supported parts of JSON Schema; the service checks the rest. */

export type ProblemKey = Extract<keyof typeof texts, `problem.${string}`>;

export type Problem = {
  /** For example `rules.0.tool`; empty for the value itself. */
  path: string;
  key: ProblemKey;
  values?: Values;
};

const wrong = (path: string, key: ProblemKey, values?: Values): Problem[] => [
  values ? { path, key, values } : { path, key },
];

type Check = (value: unknown, at: { path: string; schema: Schema; root: Schema }) => Problem[];

const limit = (schema: Schema, name: string): number | undefined => {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
};

const NUMBER_LIMITS: readonly [
  name: string,
  key: ProblemKey,
  holds: (value: number, limit: number) => boolean,
][] = [
  ['minimum', 'problem.least', (value, least) => value >= least],
  ['maximum', 'problem.most', (value, most) => value <= most],
  ['exclusiveMinimum', 'problem.above', (value, bound) => value > bound],
  ['exclusiveMaximum', 'problem.below', (value, bound) => value < bound],
  [
    'multipleOf',
    'problem.multiple',
    (value, step) => Math.abs(value / step - Math.round(value / step)) < 1e-9,
  ],
];

const checkNumber: Check = (value, { path, schema }) => {
  if (value === '') return wrong(path, 'problem.required');
  if (typeof value !== 'number') return wrong(path, 'problem.number');
  if (schema.type === 'integer' && !Number.isInteger(value)) return wrong(path, 'problem.integer');
  for (const [name, key, holds] of NUMBER_LIMITS) {
    const bound = limit(schema, name);
    if (bound !== undefined && !holds(value, bound)) return wrong(path, key, { bound });
  }
  return [];
};

const checkText: Check = (value, { path, schema }) => {
  if (typeof value !== 'string') return wrong(path, 'problem.text');
  const [least, most] = [limit(schema, 'minLength'), limit(schema, 'maxLength')];
  const length = [...value].length;
  if (least !== undefined && length < least)
    return length === 0 ? wrong(path, 'problem.required') : wrong(path, 'problem.short', { bound: least });
  if (most !== undefined && length > most) return wrong(path, 'problem.long', { bound: most });
  const { pattern } = schema;
  if (typeof pattern === 'string' && expressionOf(pattern)?.test(value) === false)
    return wrong(path, 'problem.pattern', { pattern });
  return schema.format === 'uri' && !URL.canParse(value) ? wrong(path, 'problem.uri') : [];
};

const checkObject = (
  value: unknown,
  view: View & { kind: 'object' },
  at: Parameters<Check>[1],
): Problem[] => {
  const { path, schema, root } = at;
  if (!isObject(value)) return wrong(path, 'problem.object');
  const known = new Set(view.properties.map(({ name }) => name));
  const others = Object.keys(value).filter((key) => !known.has(key));
  const refused = schema.additionalProperties === false ? others : [];
  return [
    ...view.properties.flatMap(({ name, schema: property, isRequired }) => {
      if (value[name] !== undefined) return problemsIn(property, value[name], root, placeOf(path, name));
      return isRequired ? wrong(placeOf(path, name), 'problem.required') : [];
    }),
    ...(view.rest ? others : []).flatMap((key) =>
      problemsIn(view.rest ?? {}, value[key], root, placeOf(path, key)),
    ),
    ...(refused.length > 0 ? wrong(path, 'problem.unknown', { keys: refused.join(', ') }) : []),
  ];
};

const checkList = (value: unknown, view: View & { kind: 'list' }, at: Parameters<Check>[1]): Problem[] => {
  const { path, schema, root } = at;
  if (!Array.isArray(value)) return wrong(path, 'problem.list');
  const [least, most] = [limit(schema, 'minItems'), limit(schema, 'maxItems')];
  const inside = value.flatMap((item, index) => problemsIn(view.items, item, root, placeOf(path, index)));
  if (least !== undefined && value.length < least)
    return [
      ...inside,
      ...(value.length === 0
        ? wrong(path, 'problem.required')
        : wrong(path, 'problem.few', { bound: least })),
    ];
  if (most !== undefined && value.length > most)
    return [...inside, ...wrong(path, 'problem.many', { bound: most })];
  const isTwice =
    schema.uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length;
  return isTwice ? [...inside, ...wrong(path, 'problem.twice')] : inside;
};

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  list: Array.isArray,
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  flag: (value) => typeof value === 'boolean',
  json: () => true,
};

/** Whether the value matches the kind of the schema and the constants that distinguish its variants. */
const resembles = (raw: Schema, value: unknown, root: Schema): boolean => {
  const { view } = seen(raw, root);
  if (view.kind === 'const') return view.value === value;
  if (view.kind === 'enum') return view.options.some((option) => option === value);
  if (view.kind === 'choice') return view.variants.some((variant) => resembles(variant, value, root));
  if (KINDS[view.kind]?.(value) !== true) return false;
  if (view.kind !== 'object' || !isObject(value)) return true;
  return view.properties.every(({ name, schema }) => {
    const inner = seen(schema, root).view;
    return inner.kind !== 'const' || value[name] === inner.value;
  });
};

/** The index of the variant that the value matches, or -1. */
export const variantOf = (variants: readonly Schema[], value: unknown, root: Schema): number => {
  const fitting = variants.findIndex((variant) => problemsIn(variant, value, root).length === 0);
  return fitting >= 0 ? fitting : variants.findIndex((variant) => resembles(variant, value, root));
};

const checkSeen = ({ schema, view }: Seen, value: unknown, root: Schema, path: string): Problem[] => {
  const at = { path, schema, root };
  switch (view.kind) {
    case 'object':
      return checkObject(value, view, at);
    case 'list':
      return checkList(value, view, at);
    case 'text':
      return checkText(value, at);
    case 'number':
      return checkNumber(value, at);
    case 'flag':
      return typeof value === 'boolean' ? [] : wrong(path, 'problem.flag');
    case 'enum':
      if (view.options.some((option) => option === value)) return [];
      // The empty text of a selection that was not made yet.
      return value === ''
        ? wrong(path, 'problem.required')
        : wrong(path, 'problem.enum', { options: view.options.join(', ') });
    case 'const':
      return JSON.stringify(view.value) === JSON.stringify(value)
        ? []
        : wrong(path, 'problem.enum', { options: JSON.stringify(view.value) });
    case 'choice': {
      const variant = view.variants[variantOf(view.variants, value, root)];
      return variant ? problemsIn(variant, value, root, path) : wrong(path, 'problem.variant');
    }
    case 'json':
      return [];
  }
};

export const problemsIn = (raw: Schema, value: unknown, root: Schema = raw, path = ''): Problem[] => {
  const found = seen(raw, root);
  return value === null && found.isNullable ? [] : checkSeen(found, value, root, path);
};

/** A missing value is reported only after an attempt to save. */
export const isBlank = ({ key }: Problem): boolean => key === 'problem.required';
