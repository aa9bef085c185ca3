import { compileGlob, type Glob } from '../../../schema/glob.ts';

/** Which tools an agent sees: allowed by a name or a pattern, and not excluded by one (console.md 4.3.2). */

export type ToolRules = {
  allowed_tools?: readonly string[] | undefined;
  allowed_tool_patterns?: readonly string[] | undefined;
  excluded_tools?: readonly string[] | undefined;
  excluded_tool_patterns?: readonly string[] | undefined;
};

const none: Glob = () => false;

/** What the service would match with this pattern: nothing where it refuses the pattern. */
export const globOf = (pattern: string): Glob => {
  try {
    return compileGlob(pattern);
  } catch {
    return none;
  }
};

/** Made once for many tools. */
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
