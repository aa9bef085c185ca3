import type { AgentSpec } from '../../schema/agent.ts';
import { parseConfig } from '../define.ts';
import type { Call } from './match.ts';
import { formatPattern, toolText } from './pattern.ts';
import { type Behavior, type CompiledRule, compileRule, deniesTool, evaluateRules } from './policy.ts';
import { compileSection, permissionSection } from './section.ts';

/** Previews the effect of an agent's rules on its tools before any call (config.md 6.4). */

type PreviewedAgent = Pick<AgentSpec, 'id' | 'plugin_ids' | 'sections'> & {
  active_hook_filter?: readonly string[] | null | undefined;
};

export type PermissionPreview = {
  agent_id: string;
  permission_plugin_enabled: boolean;
  /** null when the plugin is not enabled */
  default_behavior: Behavior | null;
  candidate_tools: string[];
  unconditionally_denied: string[];
  effective_tools: string[];
  args_conditional_rules: { tool: string; behavior: Behavior; pattern: string }[];
};

/**
 * `tools` are the ids of the registered tools that pass the catalog filter of the agent.
 * @throws Invalid for an invalid section
 */
export const previewPermissions = (agent: PreviewedAgent, tools: Iterable<string>): PermissionPreview => {
  const candidates = [...new Set(tools)].sort();
  const enabled = isEnabled(agent);
  if (!enabled) return previewOf(agent.id, candidates, null, []);
  const section = parseConfig('permission', permissionSection, agent.sections[permissionSection.key]);
  return previewOf(agent.id, candidates, section.default_behavior, section.rules.map(compileRule));
};

export type CallPermission = { behavior: Behavior; rule: string | null };

/**
 * The behavior of the agent's rules for one call, and the rule that decides; without a rule, the default applies.
 * Undefined for an agent without permission rules.
 * @throws Invalid for an invalid section
 */
export const permissionOfCall = (agent: PreviewedAgent, call: Call): CallPermission | undefined => {
  if (!isEnabled(agent)) return undefined;
  const section = parseConfig('permission', permissionSection, agent.sections[permissionSection.key]);
  const { rules, otherwise } = compileSection(section);
  const { behavior, rule } = evaluateRules(rules, otherwise, call);
  return { behavior, rule: rule?.tool ?? null };
};

const isEnabled = ({ plugin_ids, active_hook_filter }: PreviewedAgent): boolean => {
  const filter = active_hook_filter ?? [];
  return plugin_ids.includes('permission') && (filter.length === 0 || filter.includes('permission'));
};

const previewOf = (
  agent_id: string,
  candidates: string[],
  default_behavior: Behavior | null,
  rules: readonly CompiledRule[],
): PermissionPreview => {
  const denied = new Set(deniedTools(rules, candidates));
  const effective = candidates.filter((tool) => !denied.has(tool));
  return {
    agent_id,
    permission_plugin_enabled: default_behavior !== null,
    default_behavior,
    candidate_tools: candidates,
    unconditionally_denied: [...denied],
    effective_tools: effective,
    args_conditional_rules: rules
      // Tools denied by a glob are not effective, so the remaining deny rules have arguments.
      .filter((rule) => isOpen(rule) && effective.some(rule.isAboutTool))
      .map(({ rule, pattern }) => ({
        tool: toolText(pattern.tool),
        behavior: rule.behavior,
        pattern: formatPattern(pattern),
      }))
      .sort((a, b) => compare(a.tool, b.tool) || compare(a.pattern, b.pattern)),
  };
};

/** Tools that are denied regardless of arguments, in the given order. */
export const deniedTools = (rules: readonly CompiledRule[], tools: readonly string[]): string[] => {
  const denies = rules.filter(deniesTool);
  return tools.filter((tool) => denies.some((rule) => rule.isAboutTool(tool)));
};

/** True if the outcome depends on the arguments of a call or on which tool it names. */
const isOpen = ({ pattern }: CompiledRule): boolean =>
  pattern.args.kind !== 'any' || pattern.tool.kind !== 'exact';

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
