import type { AgentSpec } from '../../schema/agent.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { update } from '../../tools/state.ts';
import type { ToolContext, ToolOutput } from '../../tools/tool.ts';
import { permissionOverrides } from '../permission/state.ts';
import { toolsOf } from './allowed-tools.ts';
import type { Skill } from './skill.ts';
import { skillsState, stateOf } from './state.ts';

/**
 * What an activation does besides answering (agent-loop.md 14.3): the instructions stay on the thread, the tools
 * that the skill allows need no approval for the rest of the run, and those of them that are deferred come into
 * view. An activation replaces the one before of the same skill. The `skill` tool runs alone, so what is read here
 * has seen every activation before this one.
 */

export type ActivationDeps = {
  agent: AgentSpec;
  /** All tools that the agent may have, deferred or not. */
  tools: readonly ToolDescriptor[];
};

type Effects = Required<Pick<ToolOutput, 'state' | 'actions'>>;

export const activate = (
  { spec, revision }: Skill,
  instructions: string,
  view: ToolContext['state'],
  { agent, tools }: ActivationDeps,
): Effects => {
  const allowed = spec.allowed_tools ?? [];
  const lists = (plugin: string): boolean => agent.plugin_ids.includes(plugin);
  const promoted = lists('ext-deferred-tools') ? promotable(allowed, tools) : [];
  return {
    state: [
      activated({ skill_id: spec.id, instructions, revision }, view),
      ...(allowed.length > 0 && lists('permission') ? [granted(allowed, view)] : []),
    ],
    actions: promoted.length > 0 ? [{ key: 'ext-deferred-tools:promote', payload: promoted }] : [],
  };
};

const activated = (
  activation: { skill_id: string; instructions: string; revision: string },
  view: ToolContext['state'],
) => {
  const before = view.get(skillsState)?.activations ?? [];
  const again = before.some(({ skill_id }) => skill_id === activation.skill_id);
  const after = again
    ? before.map((other) => (other.skill_id === activation.skill_id ? activation : other))
    : [...before, activation];
  return update(skillsState, stateOf(after));
};

const granted = (allowed: readonly string[], view: ToolContext['state']) => {
  const rules = view.get(permissionOverrides)?.rules ?? [];
  const known = new Set(rules.map(({ tool }) => tool));
  const added = [...new Set(allowed)].filter((tool) => !known.has(tool));
  return update(permissionOverrides, {
    rules: [...rules, ...added.map((tool) => ({ tool, behavior: 'allow' as const }))],
  });
};

const promotable = (allowed: readonly string[], tools: readonly ToolDescriptor[]): string[] => {
  const matchers = allowed.map(toolsOf);
  return tools.map(({ id }) => id).filter((id) => matchers.some((matches) => matches(id)));
};
