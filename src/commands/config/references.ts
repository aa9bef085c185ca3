import { isObject } from '../../schema/endpoint.ts';
import type { Tree } from '../../settings/tree.ts';

/**
 * References to environment variables in the texts of a document: `${NAME}` is replaced by the value, and an additional
 * dollar sign escapes the reference, so that any text can be expressed.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /(\$+)\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Problems contain the name of a variable, never its value. */
export const resolveReferences = (tree: Tree, env: Environment, problems: string[]): Tree => {
  const unset = new Set<string>();
  const resolve = (text: string): string =>
    text.replaceAll(REFERENCE, (whole, dollars: string, name: string) => {
      if (dollars.length > 1) return whole.slice(1);
      const value = env[name];
      if (value === undefined || value === '') unset.add(name);
      return value ?? '';
    });
  const resolved = mapTexts(tree, resolve);
  problems.push(...Array.from(unset, (name) => `the variable ${name} is not set`));
  // Mapping an object returns an object.
  return resolved as Tree;
};

/** Escapes texts that look like references. */
export const escapeReferences = (value: unknown): unknown =>
  mapTexts(value, (text) => text.replaceAll(REFERENCE, (whole) => `$${whole}`));

/** The variable for the secret at a path: `providers`, `main`, `api_key` → `PROVIDERS_MAIN_API_KEY`. */
export const referenceTo = (...place: readonly string[]): string =>
  `\${${place
    .join('_')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()}}`;

const mapTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
};
