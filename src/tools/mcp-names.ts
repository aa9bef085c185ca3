import { mcpToolPrefix } from './mcp-id.ts';
import type { ToolRules } from './tool-rules.ts';

/**
 * Expands entries of an agent's tool rules that start with the raw id of an MCP server (config.md 3.1, rule 6): clients
 * write `mcp__my-server__*`, but the ids of the tools start with `mcp__my_server__`. Such an entry applies in both
 * forms.
 *
 * @param servers ids as configured
 */
export const withMcpNames = (rules: ToolRules, servers: readonly string[]): ToolRules => {
  const names = servers
    .filter((server) => /[A-Za-z0-9]/.test(server))
    .map((server) => ({ raw: `mcp__${server}__`, prefix: mcpToolPrefix(server) }))
    .filter(({ raw, prefix }) => raw !== prefix);
  const bothWays = (entry: string): string[] => [
    entry,
    ...names
      .filter(({ raw }) => entry.startsWith(raw))
      .map(({ raw, prefix }) => `${prefix}${entry.slice(raw.length)}`),
  ];
  // Absent fields must stay absent, because absence has a meaning.
  return Object.fromEntries(
    FIELDS.filter((field) => rules[field] !== undefined).map((field) => [
      field,
      rules[field]?.flatMap(bothWays) ?? null,
    ]),
  );
};

const FIELDS = [
  'allowed_tools',
  'allowed_tool_patterns',
  'excluded_tools',
  'excluded_tool_patterns',
] as const satisfies (keyof ToolRules)[];
