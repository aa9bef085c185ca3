import type { AgentSpec } from '../schema/agent.ts';
import { Invalid } from '../schema/outcome.ts';
import { compileGlob } from './glob.ts';
import type { Tool } from './tool.ts';

/** All tools of a deployment, and which of them an agent may use (agent-loop.md 1.3). */

export type ToolRules = Pick<
  AgentSpec,
  'allowed_tools' | 'allowed_tool_patterns' | 'excluded_tools' | 'excluded_tool_patterns'
>;

export type Catalogue = {
  get(id: string): Tool | undefined;
  all(): Tool[];
  /** Tools that the rules allow and do not exclude, by id. Throws `Invalid` for a broken pattern. */
  select(rules: ToolRules): Map<string, Tool>;
};

/** Throws `Invalid` when two tools have one id. */
export const createCatalogue = (tools: readonly Tool[]): Catalogue => {
  const byId = new Map<string, Tool>();
  for (const tool of tools) {
    const { id } = tool.descriptor;
    if (byId.has(id)) throw new Invalid(`tool ID conflict: "${id}" registered by both global and global`);
    byId.set(id, tool);
  }
  return {
    get: (id) => byId.get(id),
    all: () => [...byId.values()],
    select: (rules) => {
      const offered = offers(rules);
      return new Map([...byId].filter(([id]) => offered(id)));
    },
  };
};

/**
 * Everything is allowed only when both keys are absent. As soon as one of them is there, be it `null` or empty,
 * nothing is allowed but what they name.
 */
const offers = (rules: ToolRules): ((id: string) => boolean) => {
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
