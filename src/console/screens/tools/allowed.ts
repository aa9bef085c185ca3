import { compileGlob, type Glob } from '../../../schema/glob.ts';

/** The tools that an agent sees: allowed by name or pattern, and not excluded by either (console.md 4.3.2). */

export type ToolRules = {
  allowed_tools?: readonly string[] | undefined;
  allowed_tool_patterns?: readonly string[] | undefined;
  excluded_tools?: readonly string[] | undefined;
  excluded_tool_patterns?: readonly string[] | undefined;
};

const none: Glob = () => false;

/** Compiles a pattern like the service; a pattern that the service rejects matches nothing. */
export const globOf = (pattern: string): Glob => {
  try {
    return compileGlob(pattern);
  } catch {
    return none;
  }
};

/** Compiles the rules of an agent once, for many tools. */
export const createToolFilter = (rules: ToolRules): ((id: string) => boolean) => {
  const allowed = new Set(rules.allowed_tools);
  const excluded = new Set(rules.excluded_tools);
  const patterns = (rules.allowed_tool_patterns ?? []).map(globOf);
  const against = (rules.excluded_tool_patterns ?? []).map(globOf);
  return (id) =>
    (allowed.has(id) || patterns.some((pattern) => pattern(id))) &&
    !excluded.has(id) &&
    !against.some((pattern) => pattern(id));
};
