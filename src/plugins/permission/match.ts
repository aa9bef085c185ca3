import type { Json } from '../../tools/tool.ts';
import type { Condition, Operator, Segment } from './condition.ts';
import type { ArgumentPart, Pattern, ToolPart } from './pattern.ts';
import { compileRegex, compileWildcards } from './wildcard.ts';

/** Matches calls against patterns (agent-loop.md 14.1). */

export type Call = { name: string; arguments: Json };

type Test<Subject> = (subject: Subject) => boolean;

/** For a single call; compile the pattern for repeated use. @throws Invalid */
export const matches = (pattern: Pattern, call: Call): boolean => compilePattern(pattern)(call);

/** @throws Invalid for an incorrect expression or glob */
export const compilePattern = ({ tool, args }: Pattern): Test<Call> => {
  const isTool = compileTool(tool);
  const areArguments = compileArguments(args);
  return (call) => isTool(call.name) && areArguments(call.arguments);
};

/** @throws Invalid */
export const compileTool = (tool: ToolPart): Test<string> => {
  if (tool.kind === 'exact') return (name) => name === tool.name;
  return tool.kind === 'glob' ? compileWildcards(tool.glob) : compileRegex(tool.source);
};

const compileArguments = (args: ArgumentPart): Test<Json> => {
  if (args.kind === 'any') return () => true;
  if (args.kind === 'primary') {
    const test = compileWildcards(args.glob);
    return (given) => test(primaryOf(given));
  }
  const conditions = args.conditions.map(compileCondition);
  return (given) => conditions.every((holds) => holds(given));
};

/** The value of the only argument, otherwise the JSON of all arguments. Empty arguments count as `{}`. */
const primaryOf = (given: Json): string => {
  if (given === null || given === '') return '{}';
  const values = typeof given === 'object' && !Array.isArray(given) ? Object.values(given) : [];
  const [only] = values;
  return textOf(values.length === 1 && only !== undefined ? only : given);
};

/** A missing field has no value, so no operator holds, not even a negative one. */
const compileCondition = ({ path, operator, value }: Condition): Test<Json> => {
  const test = compileOperator(operator, value);
  return (given) => {
    for (const found of valuesAt(given, path)) if (test(textOf(found))) return true;
    return false;
  };
};

/** @throws Invalid */
export const compileOperator = (operator: Operator, value: string): Test<string> => {
  switch (operator) {
    case '=':
      return (text) => text === value;
    case '!=':
      return (text) => text !== value;
    case '~':
      return compileWildcards(value);
    case '!~':
      return not(compileWildcards(value));
    case '=~':
      return compileRegex(value);
    case '!=~':
      return not(compileRegex(value));
  }
};

const not =
  (test: Test<string>): Test<string> =>
  (text) =>
    !test(text);

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** All values at a path: at most one, unless the path has wildcards. */
export function* valuesAt(value: Json, [segment, ...rest]: readonly Segment[]): Generator<Json> {
  if (segment === undefined) yield value;
  else for (const child of childrenOf(value, segment)) yield* valuesAt(child, rest);
}

const childrenOf = (value: Json, segment: Segment): Json[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    if (segment.kind === 'any_index') return value;
    return segment.kind === 'index' ? value.slice(segment.index, segment.index + 1) : [];
  }
  if (segment.kind === 'any_key') return Object.values(value);
  if (segment.kind !== 'key' || !Object.hasOwn(value, segment.key)) return [];
  const child = value[segment.key];
  return child === undefined ? [] : [child];
};
