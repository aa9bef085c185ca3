import { type Schema, seen } from './schema.ts';

/** What a variant is called: its own name, or what tells it apart. */
export const variantName = (
  variant: Schema,
  root: Schema,
  named: (kind: 'text' | 'number' | 'flag' | 'list' | 'object' | 'json') => string,
): string => {
  const { schema, view } = seen(variant, root);
  if (typeof schema.title === 'string') return schema.title;
  if (view.kind === 'const') return String(view.value);
  if (view.kind === 'enum') return view.options.join(' / ');
  if (view.kind === 'choice') return named('json');
  if (view.kind !== 'object') return named(view.kind);
  const constants = view.properties.flatMap(({ schema: property }) => {
    const inner = seen(property, root).view;
    return inner.kind === 'const' ? [String(inner.value)] : [];
  });
  return constants.join(' ') || view.properties.map(({ name }) => name).join(', ') || named('object');
};
