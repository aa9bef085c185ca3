import type { AnySchemaObject, ErrorObject } from 'ajv';
import { z } from 'zod';
import { type Json, type Tool, ToolError } from './tool.ts';

/**
 * Checks the arguments of a call against the JSON Schema in the tool's descriptor (agent-loop.md 6.1), for tools
 * that do not check their own.
 *
 * Guarantees: a schema that cannot be used breaks nothing; calls of its tool are executed unchecked, and `report`
 * is told once. Patterns of a schema are searched in linear time. Nothing is loaded from anywhere for a `$ref`.
 * Relies on: a descriptor is never changed in place. Without `$schema` it is of draft 2020-12, as in MCP; `format`
 * is a note to the reader, as the specification has it.
 * Costs: a schema is compiled at the first call of its tool and forgotten with it; the validator itself is loaded
 * when the first schema needs it.
 */

/** What is wrong; empty when nothing is. */
type Check = (args: Json) => readonly string[];

type Report = (problem: string) => void;

/** What the tool is to be executed with. @throws ToolError */
export const checkedArguments = async (tool: Tool, args: Json, report: Report): Promise<Json> => {
  if (tool.checksOwnArguments) return args;
  // A model that gives no arguments means none.
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

/** What is wrong with a value by somebody's schema. @throws Error when the schema cannot be used */
export const problemsBySchema = async (schema: AnySchemaObject, value: Json): Promise<readonly string[]> =>
  (await compile(schema))(value);

/** More than these would not help a model. */
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

/** Of a JSON pointer; places in lists as numbers. */
const segmentsOf = (pointer: string): (string | number)[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment));
