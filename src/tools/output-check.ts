import { createHash } from 'node:crypto';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { isObject } from '../schema/endpoint.ts';
import type { Json, JsonObject } from '../schema/json.ts';
import { mapSchemas } from '../schema/json-schema.ts';
import { DEEPEST, isTooDeep } from '../schema/nesting.ts';
import { MOST_OUTPUT_BYTES } from '../schema/output.ts';

/**
 * Validates structured results against the schema of their run.
 *
 * Guarantees: a check of any value by any schema ends within `MOST_WORK` units of work, because each schema counts the
 * values that it is applied to; patterns are matched in linear time.
 * Relies on a schema without a problem by `outputSchemaProblem`.
 * Costs: a schema is compiled on first use, which takes a few milliseconds, and stays cached while it is among the
 * `KEPT` most recently used. The validator module is loaded with the first schema.
 */

/** Returns each problem with its path: `/items/2/price: must be a number`. */
type Check = (value: Json) => readonly string[];

/** Limits of the problems reported for one result. */
const MOST_PROBLEMS = 10;
const LONGEST_PROBLEM = 300;

/** A unit takes about as long as the comparison of two short texts. */
const MOST_WORK = 2_000_000;

/** A value that took more work is not validated a second time to find all of its problems. */
const LITTLE_WORK = 200_000;

/** Maximum number of compiled schemas; least recently used ones are evicted. */
const KEPT = 100;
const checks = new Map<string, Promise<Check>>();

export async function outputProblems(schema: JsonObject, value: Json): Promise<readonly string[]> {
  if (isTooDeep(value)) return [`must not nest deeper than ${DEEPEST} levels`];
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > MOST_OUTPUT_BYTES)
    return [`must not have more than ${MOST_OUTPUT_BYTES} bytes (it has ${bytes})`];
  const check = await checkOf(schema);
  return check(value);
}

const checkOf = (schema: JsonObject): Promise<Check> => {
  const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  const check = checks.get(key) ?? compile(schema);
  checks.delete(key);
  checks.set(key, check);
  for (const oldest of checks.keys()) {
    if (checks.size <= KEPT) break;
    checks.delete(oldest);
  }
  return check;
};

class TooMuchWork extends Error {}

/** Internal counting keyword. Schemas of clients cannot contain it, because unknown keywords are removed. */
const WORK = 'troupeWork';

const compile = async (schema: JsonObject): Promise<Check> => {
  const { createOutputAjv } = await import('./ajv.ts');
  let work = 0;
  const count = (fixed: number, value: unknown, parent: unknown): boolean => {
    work += fixed + workOn(value, isObject(parent) ? parent : {});
    if (work > MOST_WORK) throw new TooMuchWork();
    return true;
  };
  const counted = mapSchemas(schema, (each) => ({ ...each, [WORK]: fixedWork(each) }));
  const errorsOf = (validate: ValidateFunction, value: Json): readonly ErrorObject[] | 'endless' => {
    work = 0;
    try {
      return validate(value) ? [] : (validate.errors ?? []);
    } catch (error) {
      if (error instanceof TooMuchWork || error instanceof RangeError) return 'endless';
      throw error;
    }
  };
  const rules = { keyword: WORK, count, tracksEvaluated: JSON.stringify(schema).includes('"unevaluated') };
  // This validator stops at the first problem, so alternatives with a leading discriminator are rejected quickly.
  const first = createOutputAjv({ ...rules, allErrors: false }).compile(counted);
  let all: ValidateFunction | undefined;
  return (value) => {
    const errors = errorsOf(first, value);
    if (errors === 'endless') return ['takes too long to check: it is too large'];
    const [problem] = errors;
    if (problem === undefined) return [];
    if (work > LITTLE_WORK) return [describe(problem)];
    all ??= createOutputAjv({ ...rules, allErrors: true }).compile(counted);
    const every = errorsOf(all, value);
    const problems = (every === 'endless' ? errors : every)
      .filter(({ keyword }) => keyword !== 'if')
      .map(describe);
    return [...new Set(problems)].slice(0, MOST_PROBLEMS);
  };
};

/** Cost of applying a schema to any value. */
const fixedWork = (schema: JsonObject): number => {
  const { enum: values, const: only, required, properties } = schema;
  return (
    1 +
    (values === undefined ? 0 : JSON.stringify(values).length / 4) +
    (only === undefined ? 0 : JSON.stringify(only).length / 4) +
    (Array.isArray(required) ? required.length : 0) +
    (isObject(properties) ? Object.keys(properties).length : 0)
  );
};

/** Additional cost of applying the schema to this value. */
const workOn = (value: unknown, schema: Readonly<Record<string, unknown>>): number => {
  if (typeof value === 'string') return schema.pattern === undefined ? 0 : value.length;
  if (Array.isArray(value)) return schema.uniqueItems === true ? value.length ** 2 / 8 : 0;
  if (!isObject(value)) return 0;
  const patterns = isObject(schema.patternProperties) ? Object.keys(schema.patternProperties).length : 0;
  const names = Object.keys(value);
  return patterns === 0 ? names.length : patterns * names.reduce((sum, name) => sum + name.length + 1, 0);
};

const describe = (error: ErrorObject): string => {
  const { place, what } = wordsOf(error);
  const text = place === '' ? what : `${place}: ${what}`;
  return text.length > LONGEST_PROBLEM ? `${text.slice(0, LONGEST_PROBLEM)}…` : text;
};

const TYPES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

const wordsOf = ({ instancePath, keyword, params, message = 'does not fit' }: ErrorObject) => {
  const below = (name: unknown): string =>
    `${instancePath}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  switch (keyword) {
    case 'required':
      return { place: below(params.missingProperty), what: 'is missing' };
    case 'additionalProperties':
      return { place: below(params.additionalProperty), what: 'must not be given' };
    case 'type': {
      const types: string[] = Array.isArray(params.type) ? params.type : String(params.type).split(',');
      return {
        place: instancePath,
        what: `must be ${types.map((type) => TYPES[type] ?? type).join(' or ')}`,
      };
    }
    case 'enum':
      return { place: instancePath, what: `must be one of ${JSON.stringify(params.allowedValues)}` };
    case 'const':
      return { place: instancePath, what: `must be ${JSON.stringify(params.allowedValue)}` };
    case 'false schema':
      return { place: instancePath, what: 'must not be given' };
    default:
      return { place: instancePath, what: message };
  }
};
