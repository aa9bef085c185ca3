import type { AnySchemaObject, ErrorObject } from 'ajv';
import { z } from 'zod';
import { type Json, type Tool, ToolError } from './tool.ts';

/**
 * Validates the arguments of a call against the JSON Schema in the tool's descriptor (agent-loop.md 6.1), for tools
 * that do not validate their own.
 *
 * Guarantees: an unusable schema has no further effect: calls of its tool are executed unchecked, and `report` is
 * called once. Patterns of a schema are matched in linear time. A `$ref` never loads anything.
 * Relies on: a descriptor is never changed in place. Without `$schema` it is of draft 2020-12, as in MCP; `format` is
 * an annotation, as the specification defines.
 * Costs: a schema is compiled at the first call of its tool and released with it; the validator module is loaded with
 * the first schema.
 */

/** Returns the problems, if any. */
type Check = (args: Json) => readonly string[];

type Report = (problem: string) => void;

/** The arguments to execute the tool with. @throws ToolError */
export const checkedArguments = async (tool: Tool, args: Json, report: Report): Promise<Json> => {
  if (tool.checksOwnArguments) return args;
  // Missing arguments count as an empty object.
  const given = args === null || args === '' ? {} : args;
  const problems = (await checkOf(tool.descriptor.parameters, report))(given);
  if (problems.length > 0) throw new ToolError('invalid_arguments', problems.join('; '));
  return given;
};

const checks = new WeakMap<AnySchemaObject, Promise<Check>>();

const checkOf = (schema: AnySchemaObject, report: Report): Promise<Check> => {
  const known = checks.get(schema);
  if (known) return known;
  const made = compile(schema).catch((error: unknown): Check => {
    report(error instanceof Error ? error.message : String(error));
    return () => [];
  });
  checks.set(schema, made);
  return made;
};

/** Returns the problems of a value by any schema. @throws Error for an unusable schema */
export const problemsBySchema = async (schema: AnySchemaObject, value: Json): Promise<readonly string[]> =>
  (await compile(schema))(value);

/** A model would not benefit from more. */
const MOST_PROBLEMS = 8;

const compile = async (schema: AnySchemaObject): Promise<Check> => {
  if (schema.$async === true) throw new Error('an asynchronous schema');
  const { createAjv } = await import('./ajv.ts');
  const validate = createAjv(schema).compile(schema);
  return (args) => {
    if (validate(args)) return [];
    const problems = (validate.errors ?? []).map(describe);
    return [...new Set(problems)].slice(0, MOST_PROBLEMS);
  };
};

const describe = ({ instancePath, keyword, message = 'is wrong', params }: ErrorObject): string => {
  const at = (...more: string[]): string => z.core.toDotPath([...segmentsOf(instancePath), ...more]);
  if (keyword === 'required') return `Missing '${at(params.missingProperty)}'`;
  if (keyword === 'additionalProperties') return `'${at(params.additionalProperty)}': must not be given`;
  const what = keyword === 'enum' ? `must be one of ${JSON.stringify(params.allowedValues)}` : message;
  return instancePath === '' ? what : `'${at()}': ${what}`;
};

/** Segments of a JSON pointer; list indices are numbers. */
const segmentsOf = (pointer: string): (string | number)[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment));
