import { isObject } from './endpoint.ts';
import type { JsonObject } from './json.ts';
import { Invalid } from './outcome.ts';
import { type CompileWithin, createExpressions } from './regex.ts';
import { findKeyword, isSchema, type Keyword } from './schema-keywords.ts';

/**
 * The schema of a structured result, which must follow JSON Schema 2020-12.
 *
 * Guarantees: nothing is loaded from other locations, patterns are compiled by the engine without backtracking, and a
 * schema without a problem can be compiled and applied: its references lead to schemas, and none leads back to itself
 * for the same value.
 * Relies on a limit of the nesting, since schemas are walked by recursion.
 */

const UNSUPPORTED = ['$dynamicRef', '$recursiveRef', '$async'];

/** Keywords whose schemas apply to the same value as the schema that contains them. */
const IN_PLACE: readonly string[] = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
];

/** Maximum number of subschemas, since each takes time to compile. */
export const MOST_SUBSCHEMAS = 2000;

/** Replaces each schema within a schema, innermost first. Unknown keywords are dropped. */
export function mapSchemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const within = (value: JsonObject[string]): JsonObject[string] =>
    isJsonObject(value) ? mapSchemas(value, change) : value;
  const members = Object.entries(schema).flatMap(([name, value]): [string, JsonObject[string]][] => {
    switch (findKeyword(name)?.kind) {
      case 'schema':
        return [[name, within(value)]];
      case 'schemas':
        return [[name, Array.isArray(value) ? value.map(within) : value]];
      case 'map':
        return [[name, isJsonObject(value) ? mapped(value, within) : value]];
      case 'value':
        return [[name, value]];
      default:
        return [];
    }
  });
  return change(Object.fromEntries(members));
}

const isJsonObject = (value: JsonObject[string]): value is JsonObject => isObject(value);

const mapped = (map: JsonObject, change: (value: JsonObject[string]) => JsonObject[string]): JsonObject =>
  Object.fromEntries(Object.entries(map).map(([name, each]) => [name, change(each)]));

/** Returns why a schema cannot be used, if so: `/properties/a/type: must be …`. */
export function schemaProblem(root: JsonObject): string | undefined {
  const found: Found = new Map();
  const problem = walk(root, '', { found, compile: createExpressions() });
  if (problem !== undefined) return problem;
  if (found.size > MOST_SUBSCHEMAS) return `has more than ${MOST_SUBSCHEMAS} schemas within it`;
  const anchors = anchorsIn(found);
  if (typeof anchors === 'string') return anchors;
  const targets = targetsIn(found, anchors);
  return typeof targets === 'string' ? targets : circleIn(found, targets);
}

/** A schema and those within it, by their places, which are JSON pointers. */
type Found = Map<string, JsonObject | boolean>;

/** Returns the places of the anchors, or a problem. */
function anchorsIn(found: Found): Map<string, string> | string {
  const anchors = new Map<string, string>();
  for (const [place, schema] of found) {
    if (!isObject(schema) || typeof schema.$anchor !== 'string') continue;
    const anchor = `#${schema.$anchor}`;
    if (anchors.has(anchor)) return at(place, `$anchor '${shortened(schema.$anchor)}' is used twice`);
    anchors.set(anchor, place);
  }
  return anchors;
}

/** Returns the target of the reference at each place, or a problem. */
function targetsIn(found: Found, anchors: ReadonlyMap<string, string>): Map<string, string> | string {
  const targets = new Map<string, string>();
  for (const [place, schema] of found) {
    if (!isObject(schema) || typeof schema.$ref !== 'string') continue;
    const target = anchors.get(schema.$ref) ?? pointerOf(schema.$ref);
    if (target === undefined) return at(place, `remote $ref '${shortened(schema.$ref)}' is not supported`);
    if (!found.has(target)) return at(place, `$ref '${shortened(schema.$ref)}' leads to no schema`);
    targets.set(place, target);
  }
  return targets;
}

const at = (place: string, what: string): string => (place === '' ? what : `${place}: ${what}`);

const shortened = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

type Walk = { found: Found; compile: CompileWithin };

const walk = (schema: JsonObject | boolean, place: string, way: Walk): string | undefined => {
  const { found, compile } = way;
  found.set(place, schema);
  if (typeof schema === 'boolean' || found.size > MOST_SUBSCHEMAS) return undefined;
  for (const [name, value] of Object.entries(schema)) {
    if (UNSUPPORTED.includes(name)) return at(place, `${name} is not supported`);
    if (name === '$id' && place !== '') return at(place, '$id within a schema is not supported');
    const keyword = findKeyword(name);
    if (keyword === undefined) continue;
    const here = `${place}/${escaped(name)}`;
    if (!keyword.fits(value)) return `${here}: must be ${keyword.must}`;
    const problem = patternProblem(compile, name, value, here) ?? walkWithin(keyword, value, here, way);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const walkWithin = ({ kind }: Keyword, value: unknown, here: string, way: Walk): string | undefined => {
  if (kind === 'value') return undefined;
  const members: [string, unknown][] =
    kind === 'schema'
      ? [['', value]]
      : Object.entries(value as object).map(([name, each]) => [`/${escaped(name)}`, each]);
  for (const [suffix, each] of members) {
    if (!isSchema(each)) return `${here}${suffix}: must be a schema`;
    // A member of JSON is JSON.
    const problem = walk(each as JsonObject | boolean, here + suffix, way);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const patternProblem = (
  compile: CompileWithin,
  name: string,
  value: unknown,
  here: string,
): string | undefined => {
  const patterns =
    name === 'pattern'
      ? [String(value)]
      : name === 'patternProperties' && isObject(value)
        ? Object.keys(value)
        : [];
  for (const pattern of patterns) {
    const compiled = compile(pattern);
    if (compiled instanceof Invalid)
      return `${here}: the pattern '${shortened(pattern)}' cannot be used: ${compiled.message}`;
  }
  return undefined;
};

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns the pointer within the schema that a reference names; undefined for a remote reference. */
const pointerOf = ($ref: string): string | undefined => {
  if (!$ref.startsWith('#')) return undefined;
  try {
    return decodeURIComponent($ref.slice(1));
  } catch {
    return $ref.slice(1);
  }
};

/** Finds a reference cycle that would make validation of a value endless. */
const circleIn = (found: Found, targets: ReadonlyMap<string, string>): string | undefined => {
  const done = new Set<string>();
  const open = new Set<string>();
  const visit = (place: string): string | undefined => {
    if (done.has(place)) return undefined;
    if (open.has(place)) return at(place, '$ref leads back here without a property or an item in between');
    open.add(place);
    for (const next of inPlace(place, found, targets)) {
      const problem = visit(next);
      if (problem !== undefined) return problem;
    }
    open.delete(place);
    done.add(place);
    return undefined;
  };
  for (const place of targets.keys()) {
    const problem = visit(place);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const inPlace = (place: string, found: Found, targets: ReadonlyMap<string, string>): string[] => {
  const schema = found.get(place);
  if (!isObject(schema)) return [];
  const target = targets.get(place);
  const within = IN_PLACE.filter((name) => name in schema).flatMap((name): string[] => {
    const value = schema[name];
    const here = `${place}/${name}`;
    if (findKeyword(name)?.kind === 'schema') return [here];
    return Object.keys(value as object).map((key) => `${here}/${escaped(key)}`);
  });
  return target === undefined ? within : [target, ...within];
};
