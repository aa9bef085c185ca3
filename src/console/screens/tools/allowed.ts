/** Which tools an agent sees: allowed by a name or a pattern, and not excluded by one (console.md 4.3.2). */

export type ToolRules = {
  allowed_tools?: readonly string[] | undefined;
  allowed_tool_patterns?: readonly string[] | undefined;
  excluded_tools?: readonly string[] | undefined;
  excluded_tool_patterns?: readonly string[] | undefined;
};

/** An anchored glob: `*` is any run of characters, `\` takes the next one as it is. */
export const globOf = (pattern: string): RegExp => {
  let source = '';
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern[i] ?? '';
    if (char === '*') source += '[\\s\\S]*';
    else if (char === '\\' && i + 1 < pattern.length) {
      i += 1;
      source += escaped(pattern[i] ?? '');
    } else source += escaped(char);
  }
  return new RegExp(`^${source}$`);
};

const escaped = (char: string): string => char.replace(/[.*+?^${}()|[\]\\/-]/, '\\$&');

/** Made once for many tools. */
export const createToolFilter = (rules: ToolRules): ((id: string) => boolean) => {
  const allowed = new Set(rules.allowed_tools);
  const excluded = new Set(rules.excluded_tools);
  const patterns = (rules.allowed_tool_patterns ?? []).map(globOf);
  const against = (rules.excluded_tool_patterns ?? []).map(globOf);
  return (id) =>
    (allowed.has(id) || patterns.some((pattern) => pattern.test(id))) &&
    !excluded.has(id) &&
    !against.some((pattern) => pattern.test(id));
};
