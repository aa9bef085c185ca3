import { compilePattern, compileTool } from '../permission/match.ts';
import { parsePattern } from '../permission/pattern.ts';

/**
 * The entries of a skill's `allowed_tools` (config.md 3.8): a tool id, a glob over tool ids or `/regex/`; in file
 * skills also with a scope, `Bash(git *)`. An entry is parsed as a rule of the permission plugin, because it becomes
 * one; it is stricter only where a rule would treat a broken pattern as the name of a tool.
 */

/** Returns undefined for a valid entry. */
export const allowedToolProblem = (token: string, { scoped }: { scoped: boolean }): string | undefined => {
  if (token.trim() === '') return 'allowed_tools entry cannot be empty';
  if (token !== token.trim()) return `allowed_tools entry '${token}' must not contain surrounding whitespace`;
  if (isScoped(token)) {
    if (!scoped) return `scoped allowed_tools entry '${token}' is not supported for DB-managed skills`;
  } else if (/\s/.test(token)) return `allowed_tools entry '${token}' must be one token`;
  const problem = brokenPattern(token);
  return problem && `invalid allowed-tools pattern '${token}': ${problem}`;
};

/** True for a plain tool id: neither a pattern nor a scope. */
export const isExactTool = (token: string): boolean => !isMatcher(token) && !isScoped(token);

/** Matches the tools of a valid entry, regardless of its scope. */
export const compileTools = (token: string): ((tool: string) => boolean) =>
  compileTool(parsePattern(token).tool);

const isMatcher = (token: string): boolean => token.startsWith('/') || /[*?[]/.test(token);

/** Parentheses within a regular expression are not a scope. */
const isScoped = (token: string): boolean =>
  !(token.startsWith('/') && token.endsWith('/')) && token.endsWith(')') && token.indexOf('(') > 0;

const brokenPattern = (token: string): string | undefined => {
  if (isMatcher(token) && /(?<!\\)(\\\\)*\\$/.test(token))
    return 'pattern ends with a dangling escape (`\\`)';
  if (token.startsWith('/') && !isScoped(token) && !/^\/.+\/$/.test(token))
    return 'a regular expression ends with `/`';
  try {
    compilePattern(parsePattern(token));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
