import type { Json } from '../../tools/tool.ts';
import type { Condition, Operator, Segment } from './condition.ts';
import type { ArgumentPart, Pattern, ToolPart } from './pattern.ts';
import { compileRegex, compileWildcards } from './wildcard.ts';

/** Which calls a pattern is about (agent-loop.md 14.1). */

export type Call = { name: string; arguments: Json };

type Test<Subject> = (subject: Subject) => boolean;

/** For one call; who asks often compiles. @throws Invalid */
export const matches = (pattern: Pattern, call: Call): boolean => compilePattern(pattern)(call);

/** @throws Invalid when an expression or a glob in it is not correct */
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

/** The value of the only argument, otherwise the JSON of all; a model that gives nothing means none. */
const primaryOf = (given: Json): string => {
  if (given === null || given === '') return '{}';
  const values = typeof given === 'object' && !Array.isArray(given) ? Object.values(given) : [];
  const [only] = values;
  return textOf(values.length === 1 && only !== undefined ? only : given);
};

/** A field that is missing has no value, so no operator holds, the negative ones included. */
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

/** Everything that a path leads to: one value at most unless it has wildcards. */
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
