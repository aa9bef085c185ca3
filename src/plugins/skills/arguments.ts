import { codedError } from '../../tools/coded-error.ts';
import type { Json } from '../../tools/tool.ts';
import type { SkillSpec } from './skill.ts';

/**
 * Arguments of an activation (agent-loop.md 14.3). `${name}` in the instructions is replaced in a single pass, so
 * inserted values are never expanded again. A skill that declares arguments accepts only those; a skill that declares
 * none accepts any object, and leaves every other `${…}` unchanged (for example in shell examples).
 */

/** @throws ToolError `invalid_arguments` */
export const fillIn = (spec: SkillSpec, given: Json | undefined): string => {
  const values = spec.arguments ? declaredValues(spec, spec.arguments, given) : anyValues(given);
  return spec.instructions_md.replace(/\$\{([^{}]*)\}/g, (placeholder, name: string) => {
    return values.get(name) ?? placeholder;
  });
};

const invalid = (message: string) => codedError('invalid_arguments', message, 'invalid_arguments');

const isObject = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Declared = NonNullable<SkillSpec['arguments']>;

const declaredValues = (
  { id }: SkillSpec,
  declared: Declared,
  given: Json = {},
): ReadonlyMap<string, string> => {
  const names = declared.map(({ name }) => name);
  if (!isObject(given)) throw invalid(`skill '${id}' requires named arguments: ${names.join(', ')}`);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`unknown argument '${unknown}' for skill '${id}'`);
  // An omitted optional argument becomes an empty text.
  const textFor = ({ name, required }: Declared[number]): string => {
    if (Object.hasOwn(given, name)) return scalar(id, name, given[name] ?? null);
    if (required) throw invalid(`missing required argument '${name}' for skill '${id}'`);
    return '';
  };
  return new Map(declared.map((argument) => [argument.name, textFor(argument)]));
};

const scalar = (id: string, name: string, value: Json): string => {
  if (value === null) throw invalid(`argument '${name}' for skill '${id}' must not be null`);
  if (typeof value === 'object')
    throw invalid(`argument '${name}' for skill '${id}' must be a string, number or boolean`);
  return String(value);
};

const anyValues = (given: Json | undefined): ReadonlyMap<string, string> =>
  new Map(Object.entries(isObject(given) ? given : {}).map(([name, value]) => [name, lenient(value)]));

const lenient = (value: Json): string => {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
