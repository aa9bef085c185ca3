import { isObject, type JsonObject } from '../data/guard.ts';
import { type Schema, type Seen, seen } from './schema.ts';

/** The initial value of an added member: the minimum that the schema requires. */
export const startOf = (raw: Schema, root: Schema): unknown => {
  const { schema, view, isNullable } = seen(raw, root);
  if (schema.default !== undefined && schema.default !== null) return structuredClone(schema.default);
  switch (view.kind) {
    case 'object': {
      const value: JsonObject = {};
      for (const { name, schema: property, isRequired } of view.properties) {
        if (isRequired || seen(property, root).view.kind === 'const') value[name] = firstOf(property, root);
      }
      return value;
    }
    case 'list':
      return [];
    case 'enum':
      return view.options[0];
    case 'const':
      return view.value;
    case 'choice':
      return view.variants[0] ? startOf(view.variants[0], root) : null;
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'flag':
      return false;
    case 'text':
      return '';
    default:
      return isNullable ? null : {};
  }
};

/** The initial value of a required property. */
const firstOf = (raw: Schema, root: Schema): unknown =>
  seen(raw, root).isNullable ? null : startOf(raw, root);

const constantsOf = ({ view }: Seen, root: Schema): JsonObject => {
  const value: JsonObject = {};
  for (const { name, schema } of view.kind === 'object' ? view.properties : []) {
    const inner = seen(schema, root).view;
    if (inner.kind === 'const') value[name] = inner.value;
  }
  return value;
};

/**
 * An object after an edit of its members. A new object receives the constants that identify its variant, and a nullable
 * object becomes null again once no other member is left.
 */
export const asEdited = (own: Seen, root: Schema, before: unknown, next: JsonObject): JsonObject | null => {
  const constants = constantsOf(own, root);
  const rest = Object.keys(next).filter((name) => !(name in constants) && next[name] !== '');
  if (own.isNullable && rest.length === 0) return null;
  return isObject(before) ? next : { ...constants, ...next };
};
