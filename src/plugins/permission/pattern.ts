import { Invalid } from '../../schema/outcome.ts';
import {
  beginsCondition,
  type Condition,
  type Cursor,
  conditionsAt,
  failAt,
  formatCondition,
} from './condition.ts';
import { escapeLiteral, unescapeLiteral } from './wildcard.ts';

/**
 * The rule language: selects the calls that a rule applies to (agent-loop.md 14.1).
 *
 *     Bash                                that tool
 *     mcp__files__*                       tools whose id matches a glob
 *     /^(get|list)_/                      tools whose id matches a regular expression
 *     Bash(rm *)                          a glob on the one argument, or on the JSON of all
 *     Bash(command ~ "rm *", cwd = "/")   all of the conditions
 *
 * Any other text is a tool id or a glob on tool ids. Text that can only be a condition must be a valid one: a rule that
 * denies something must not silently become a rule that matches nothing. `parsePattern(formatPattern(pattern))` returns
 * an equal pattern.
 */

export type ToolPart =
  | { kind: 'exact'; name: string }
  | { kind: 'glob'; glob: string }
  | { kind: 'regex'; source: string };

export type ArgumentPart =
  | { kind: 'any' }
  | { kind: 'primary'; glob: string }
  | { kind: 'conditions'; conditions: readonly Condition[] };

export type Pattern = { tool: ToolPart; args: ArgumentPart };

const ANY: ArgumentPart = { kind: 'any' };

/** Does not compile expressions and globs. @throws Invalid with the position */
export const parsePattern = (text: string): Pattern => {
  const given = text.trim();
  if (given === '') throw new Invalid('pattern is empty');
  return regexPattern(given) ?? namedPattern(given) ?? { tool: nameOf(given), args: ANY };
};

const namedPattern = (text: string): Pattern | undefined => {
  const open = unescaped(text, '(');
  const name = text.slice(0, Math.max(open, 0)).trimEnd();
  if (name === '') return undefined;
  const args = argumentsAt(text, open);
  return args && { tool: nameOf(name), args };
};

/** Parses `/regex/` and `/regex/(…)`; in the latter the expression ends at the first `/(`. */
const regexPattern = (text: string): Pattern | undefined => {
  if (!text.startsWith('/') || text.length < 3) return undefined;
  if (text.endsWith('/')) return { tool: regexOf(text.slice(1, -1)), args: ANY };
  const close = unescaped(text, '/(', 1);
  const args = close > 1 ? argumentsAt(text, close + 1) : undefined;
  return args && { tool: regexOf(text.slice(1, close)), args };
};

/** Index of the first occurrence of `wanted` that no backslash escapes, or -1. */
const unescaped = (text: string, wanted: string, from = 0): number => {
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith(wanted, at)) return at;
    if (text[at] === '\\') at += 1;
  }
  return -1;
};

/** A tool id has no surrounding whitespace. */
const nameOf = (text: string): ToolPart => {
  const name = unescapeLiteral(text);
  return name === undefined ? { kind: 'glob', glob: closed(text) } : { kind: 'exact', name: name.trim() };
};

/** Doubles a trailing unescaped backslash, so that it does not escape the text that follows the glob. */
const closed = (glob: string): string => {
  let backslashes = 0;
  while (glob.at(-1 - backslashes) === '\\') backslashes += 1;
  return backslashes % 2 === 1 ? `${glob}\\` : glob;
};

const regexOf = (text: string): ToolPart => ({
  kind: 'regex',
  source: text.replace(/\\([\s\S])/g, (found, character) => (character === '/' ? '/' : found)),
});

/** Parses the parentheses that open at `open` and end the text; returns undefined if there are none. */
const argumentsAt = (text: string, open: number): ArgumentPart | undefined => {
  if (beginsCondition(text, open + 1)) {
    const cursor: Cursor = { text, at: open + 1 };
    const conditions = conditionsAt(cursor);
    if (text[cursor.at] !== ')') failAt(cursor, '"," or ")"');
    cursor.at += 1;
    if (cursor.at < text.length) failAt(cursor, 'the end');
    return { kind: 'conditions', conditions };
  }
  if (!text.endsWith(')')) return undefined;
  const glob = text.slice(open + 1, -1);
  if (glob.trim() === '') return undefined;
  return glob.trim() === '*' ? ANY : { kind: 'primary', glob };
};

/** The canonical text of a pattern. */
export const formatPattern = ({ tool, args }: Pattern): string =>
  `${formatTool(tool)}${formatArguments(args)}`;

const formatTool = (tool: ToolPart): string =>
  tool.kind === 'exact' ? escapeLiteral(tool.name) : toolText(tool);

const formatArguments = (args: ArgumentPart): string => {
  if (args.kind === 'any') return '';
  return `(${args.kind === 'primary' ? args.glob : args.conditions.map(formatCondition).join(', ')})`;
};

/** The exact name, the glob, or the expression between slashes. */
export const toolText = (tool: ToolPart): string => {
  if (tool.kind === 'exact') return tool.name;
  if (tool.kind === 'glob') return tool.glob;
  return `/${tool.source.replace(/\\[\s\S]|\//g, (found) => (found === '/' ? '\\/' : found))}/`;
};
