import { parseSync } from 'vite';

/** One small change of a source file that a test should detect. */
export interface Mutant {
  file: string;
  line: number;
  /** The kind of change, such as `=== becomes !==`. */
  name: string;
  /** The text of the file with the change. */
  text: string;
  /** The original line. */
  was: string;
}

interface Edit {
  start: number;
  end: number;
  by: string;
  name: string;
}

/** A node of the syntax tree (ESTree with TypeScript's nodes); its other fields depend on its type. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** A map, because source code may use names that every object inherits. */
const swaps = (table: Record<string, string>): ReadonlyMap<unknown, string> => new Map(Object.entries(table));

const OPERATORS = swaps({
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
});

const METHODS = swaps({
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  push: 'unshift',
  shift: 'pop',
});

/** Parts of a statechart that can be removed and leave a valid chart. */
const CHART_PARTS = new Set([
  'guard',
  'actions',
  'entry',
  'exit',
  'always',
  'after',
  'on',
  'reenter',
  'target',
]);

/** Log lines and console output of programs; tests do not check their text. */
const UNHEARD = /^(?:await )?(?:this\.)?#?(?:log|logger|console)\b/;

type Rule = (node: Node, text: string) => Edit[];

const edit = (node: Node, by: string, name: string): Edit => ({ start: node.start, end: node.end, by, name });

const slice = (text: string, { start, end }: Node): string => text.slice(start, end);

/** Replaces the operator between two nodes. */
const operator: Rule = (node, text) => {
  const { operator, left, right } = node;
  if (typeof operator !== 'string' || !isNode(left) || !isNode(right)) return [];
  const by = OPERATORS.get(operator);
  // The type check already detects a missing right side.
  if (operator === '??') return [edit(node, slice(text, right), '?? takes its right side')];
  if (by === undefined) return [];
  const start = text.indexOf(operator, left.end);
  return [{ start, end: start + operator.length, by, name: `${operator} becomes ${by}` }];
};

const update: Rule = (node, text) => {
  const by = OPERATORS.get(node.operator);
  if (by === undefined) return [];
  return [edit(node, slice(text, node).replace(String(node.operator), by), `${node.operator} becomes ${by}`)];
};

const condition: Rule = ({ test }) =>
  isNode(test)
    ? [edit(test, 'true', 'condition is always true'), edit(test, 'false', 'condition is never true')]
    : [];

const statement: Rule = (node, text) => {
  const said = slice(text, node);
  if (UNHEARD.test(said) || said.startsWith('super(') || said.startsWith("'use ")) return [];
  return [edit(node, ';', `${said.split('\n', 1)[0]} is dropped`)];
};

const literal: Rule = (node) => {
  if (typeof node.value === 'boolean')
    return [edit(node, String(!node.value), `${node.value} becomes its opposite`)];
  if (typeof node.value === 'number')
    return [edit(node, String(node.value + 1), `${node.value} becomes one more`)];
  return [];
};

const method: Rule = ({ callee }) => {
  if (!isNode(callee) || callee.type !== 'MemberExpression' || !isNode(callee.property)) return [];
  const by = METHODS.get(callee.property.name);
  return by === undefined ? [] : [edit(callee.property, by, `${callee.property.name}() becomes ${by}()`)];
};

const not: Rule = (node, text) =>
  node.operator === '!' && isNode(node.argument)
    ? [edit(node, slice(text, node.argument), '! is dropped')]
    : [];

const chartPart: Rule = (node, text) => {
  if (!isNode(node.key) || !CHART_PARTS.has(String(node.key.name))) return [];
  const end = text[node.end] === ',' ? node.end + 1 : node.end;
  return [{ start: node.start, end, by: '', name: `${node.key.name} is dropped` }];
};

const RULES: Record<string, Rule> = {
  BinaryExpression: operator,
  LogicalExpression: operator,
  AssignmentExpression: operator,
  UpdateExpression: update,
  IfStatement: condition,
  ConditionalExpression: condition,
  WhileStatement: ({ test }) => (isNode(test) ? [edit(test, 'false', 'loop never runs')] : []),
  ExpressionStatement: statement,
  ThrowStatement: statement,
  ContinueStatement: statement,
  BreakStatement: statement,
  Literal: literal,
  CallExpression: method,
  UnaryExpression: not,
  Property: chartPart,
};

const walk = (node: Node, text: string, inChart: boolean, found: Edit[]): void => {
  // Types are not executed.
  if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)Expression$/.test(node.type)) return;
  if (node.type === 'ImportDeclaration') return;
  if (node.type !== 'Property' || inChart) found.push(...(RULES[node.type]?.(node, text) ?? []));
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, text, inChart, found);
    }
  }
};

/** All mutants of a file, in the order of its lines. */
export const mutantsOf = (file: string, text: string): Mutant[] => {
  const { program } = parseSync(file, text);
  const edits: Edit[] = [];
  if (isNode(program)) walk(program, text, file.startsWith('machines/'), edits);
  const lines = text.split('\n');
  return edits
    .sort((a, b) => a.start - b.start)
    .map(({ start, end, by, name }) => {
      const line = text.slice(0, start).split('\n').length;
      return {
        file,
        line,
        name,
        text: text.slice(0, start) + by + text.slice(end),
        was: lines[line - 1]?.trim() ?? '',
      };
    });
};
