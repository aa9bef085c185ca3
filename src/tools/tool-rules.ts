import { compileGlob } from '../schema/glob.ts';
import { Invalid } from '../schema/outcome.ts';

/** Selects the tools that an agent may use (agent-loop.md 1.3), whatever their source. */

export type ToolRules = {
  allowed_tools?: readonly string[] | null;
  allowed_tool_patterns?: readonly string[] | null;
  excluded_tools?: readonly string[] | null;
  excluded_tool_patterns?: readonly string[] | null;
};

/**
 * Everything is allowed only if both keys are absent. If one of them is present, even as `null` or empty, only the
 * listed tools are allowed.
 *
 * @throws Invalid for a broken pattern
 */
export const compileToolRules = (rules: ToolRules): ((id: string) => boolean) => {
  const unrestricted = rules.allowed_tools === undefined && rules.allowed_tool_patterns === undefined;
  const allowed = matcher(rules.allowed_tools, unrestricted ? ['*'] : rules.allowed_tool_patterns);
  const excluded = matcher(rules.excluded_tools, rules.excluded_tool_patterns);
  return (id) => allowed(id) && !excluded(id);
};

const matcher = (ids: readonly string[] | null = [], patterns: readonly string[] | null = []) => {
  const exact = new Set(ids);
  const globs = (patterns ?? []).map(compileGlob);
  return (id: string): boolean => exact.has(id) || globs.some((matches) => matches(id));
};

export type ToolRuleIssue = {
  severity: 'error' | 'warning';
  field: keyof ToolRules;
  entry: string;
  message: string;
};

const LITERALS = {
  allowed_tools: 'allowed_tool_patterns',
  excluded_tools: 'excluded_tool_patterns',
} as const;
const PATTERNS = ['allowed_tool_patterns', 'excluded_tool_patterns'] as const;

/** Problems to report before the rules are stored; only errors prevent storing them. */
export const toolRuleIssues = (rules: ToolRules): ToolRuleIssue[] => [
  ...PATTERNS.flatMap((field) =>
    (rules[field] ?? []).flatMap((entry): ToolRuleIssue[] => {
      const reason = patternProblem(entry);
      const message = `${field}[${entry}] is not a valid pattern: ${reason}`;
      return reason === undefined ? [] : [{ severity: 'error', field, entry, message }];
    }),
  ),
  ...(['allowed_tools', 'excluded_tools'] as const).flatMap((field) =>
    (rules[field] ?? []).filter(hasStar).map((entry): ToolRuleIssue => {
      const message = `${field}[${entry}] contains '*', which is a plain character there; patterns belong in ${LITERALS[field]}`;
      return { severity: 'warning', field, entry, message };
    }),
  ),
];

const patternProblem = (pattern: string): string | undefined => {
  try {
    compileGlob(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof Invalid) return error.message;
    throw error;
  }
};

const hasStar = (entry: string): boolean => entry.replaceAll(/\\./g, '').includes('*');
