import { Invalid } from '../../schema/outcome.ts';
import type { ToolResult } from '../../schema/run-event.ts';
import type { Json } from '../../tools/tool.ts';
import { conditionsAt, type Operator, type Segment } from '../permission/condition.ts';
import { type Call, compileOperator, compilePattern, valuesAt } from '../permission/match.ts';
import { parsePattern } from '../permission/pattern.ts';
import { compileWildcards } from '../permission/wildcard.ts';

/** Matches tool results against reminders (agent-loop.md 14.2). Tools and fields match as in permission rules. */

export const FIELD_OPERATORS = ['glob', 'exact', 'regex', 'not_glob', 'not_exact', 'not_regex'] as const;

const OPERATOR: Readonly<Record<(typeof FIELD_OPERATORS)[number], Operator>> = {
  glob: '~',
  exact: '=',
  regex: '=~',
  not_glob: '!~',
  not_exact: '!=',
  not_regex: '!=~',
};

type FieldTest = { path: string; op: (typeof FIELD_OPERATORS)[number]; value: string };

type OutputTest =
  | 'any'
  | { status: ToolResult['status'] | 'any'; content?: string | { fields: FieldTest[] } | undefined };

/** @throws Invalid */
export const compileTool = (tool: string): ((call: Call) => boolean) => compilePattern(parsePattern(tool));

/** @throws Invalid */
export const compileOutput = (output: OutputTest): ((result: ToolResult) => boolean) => {
  if (output === 'any') return () => true;
  const { status, content } = output;
  const isContent = compileContent(content);
  return (result) => (status === 'any' || status === result.status) && isContent(result);
};

const compileContent = (
  content: Exclude<OutputTest, 'any'>['content'],
): ((result: ToolResult) => boolean) => {
  if (content === undefined) return () => true;
  if (typeof content === 'string') {
    const test = compileWildcards(content);
    return ({ message, data }) => test(message ?? JSON.stringify(data));
  }
  const fields = content.fields.map(compileField);
  return ({ data }) => fields.every((holds) => holds(data));
};

/** A missing field makes every operator false. @throws Invalid */
export const compileField = ({ path, op, value }: FieldTest): ((data: Json) => boolean) => {
  const segments = pathOf(path);
  const test = compileOperator(OPERATOR[op], value);
  return (data) =>
    [...valuesAt(data, segments)].some((found) =>
      test(typeof found === 'string' ? found : JSON.stringify(found)),
    );
};

/** Parsed as the path of a condition, so that there is only one path language. */
const pathOf = (path: string): readonly Segment[] => {
  const cursor = { text: `${path} = ""`, at: 0 };
  const [condition, ...more] = conditionsAt(cursor);
  if (!condition || more.length > 0 || cursor.at < cursor.text.length)
    throw new Invalid(`path ${JSON.stringify(path)} is not valid`);
  return condition.path;
};
