import type { AgentSpec } from '../../schema/agent.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { update } from '../../tools/state.ts';
import type { ToolContext, ToolOutput } from '../../tools/tool.ts';
import { permissionOverrides } from '../permission/state.ts';
import { compileTools } from './allowed-tools.ts';
import type { Skill } from './skill.ts';
import { createSkillsState, skillsState } from './state.ts';

/**
 * Effects of an activation in addition to its result (agent-loop.md 14.3): the instructions are stored on the thread,
 * the tools that the skill allows need no approval for the rest of the run, and deferred ones among them are promoted.
 * An activation replaces an earlier one of the same skill. The `skill` tool is exclusive, so the state read here
 * includes all earlier activations.
 */

export type ActivationDeps = {
  agent: AgentSpec;
  /** All tools available to the agent, deferred or not. */
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
  return update(skillsState, createSkillsState(after));
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
  const matchers = allowed.map(compileTools);
  return tools.map(({ id }) => id).filter((id) => matchers.some((matches) => matches(id)));
};
