import { isObject } from '../schema/endpoint.ts';
import type { JsonObject } from '../schema/json.ts';
import type { Json } from '../tools/tool.ts';
import { headerText } from './modern.ts';

/**
 * Arguments that a server also requires as headers (`x-mcp-header` in the schema of a tool, revision 2026-07-28). The
 * revision requires clients to omit a tool whose declarations are invalid.
 */
export type Declared = { headers: readonly Declaration[] } | { problem: string };

type Declaration = { path: readonly string[]; name: string };

const MARK = 'x-mcp-header';
const PREFIX = 'mcp-param-';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

const known = new WeakMap<object, Declared>();

/** Schemas are never changed in place, so results are cached. */
export const declaredHeaders = (schema: JsonObject): Declared => {
  const before = known.get(schema);
  if (before) return before;
  const found: Declaration[] = [];
  const problem = visit(schema, [], found) ?? repeatedIn(found);
  const declared = problem === undefined ? { headers: found } : { problem };
  known.set(schema, declared);
  return declared;
};

export const paramHeaders = (schema: JsonObject, args: Json): Record<string, string> => {
  const declared = declaredHeaders(schema);
  if ('problem' in declared) return {};
  return Object.fromEntries(
    declared.headers.flatMap(({ path, name }) => {
      const text = textOf(valueAt(args, path));
      return text === undefined ? [] : [[`${PREFIX}${name.toLowerCase()}`, headerText(text)]];
    }),
  );
};

/** Valid only on nested properties; elsewhere, a server could not locate the value. */
const visit = (node: unknown, path: readonly string[], found: Declaration[]): string | undefined => {
  if (!isObject(node)) return undefined;
  if (MARK in node) {
    const problem = problemOf(node, path);
    if (problem !== undefined) return `${MARK} of '${path.join('.')}' ${problem}`;
    found.push({ path, name: String(node[MARK]) });
  }
  for (const [keyword, value] of Object.entries(node)) {
    const problem =
      keyword === 'properties' && isObject(value)
        ? visitProperties(value, path, found)
        : misplacedIn(keyword, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const visitProperties = (
  properties: Record<string, unknown>,
  path: readonly string[],
  found: Declaration[],
): string | undefined => {
  for (const [name, each] of Object.entries(properties)) {
    const problem = visit(each, [...path, name], found);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const misplacedIn = (keyword: string, value: unknown): string | undefined =>
  !VALUES.has(keyword) && holdsMark(value) ? `${MARK} under '${keyword}' is not legal` : undefined;

/** Keywords whose value is not a schema. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', 'example', MARK]);

const problemOf = (node: Record<string, unknown>, path: readonly string[]): string | undefined => {
  const name = node[MARK];
  if (path.length === 0) return 'is not on a property';
  if (typeof name !== 'string' || !TOKEN.test(name)) return 'is not the name of a header';
  return TYPES.has(node.type) ? undefined : 'is not on a string, an integer or a boolean';
};

const holdsMark = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(holdsMark);
  return isObject(value) && (MARK in value || Object.values(value).some(holdsMark));
};

const repeatedIn = (found: readonly Declaration[]): string | undefined => {
  const names = found.map(({ name }) => name.toLowerCase());
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? undefined : `${MARK} '${repeated}' occurs twice`;
};

const valueAt = (value: Json | undefined, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>(
    (inner, name) =>
      isObject(inner) && Object.hasOwn(inner, name) ? (inner as JsonObject)[name] : undefined,
    value,
  );

const textOf = (value: Json | undefined): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  const isExact = typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return isExact ? String(value) : undefined;
};
