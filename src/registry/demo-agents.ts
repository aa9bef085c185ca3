import type { AgentInput } from '../schema/agent.ts';
import type { ReasoningEffort } from '../schema/model-settings.ts';
import * as prompts from './demo-prompts.ts';

/** The agents of the profile `demo` (agent-loop.md 18.3), all on model `default`. */

type DemoSettings = {
  system_prompt: string;
  max_rounds: number;
  reasoning_effort: ReasoningEffort | undefined;
};

export const demoAgents = (seed: DemoSettings, defaultId: string): AgentInput[] => {
  const base = seed.system_prompt;
  const effort = seed.reasoning_effort !== undefined && { reasoning_effort: seed.reasoning_effort };
  const replaced: AgentInput = {
    id: defaultId,
    system_prompt: base + prompts.TOOL_ROUTING,
    max_rounds: 3,
    plugin_ids: ['frontend_tools', 'observability'],
    ...effort,
  };
  const others = [
    ...toolAgents(base, seed.max_rounds),
    ...shortAgents(effort),
    ...uiAgents(),
    ...gatedAgents(),
  ].filter(({ id }) => id !== defaultId);
  return [replaced, ...others].map((agent) => ({ model_id: 'default', ...clientTools(agent), ...agent }));
};

/** The client executes these two anyway, so it may also declare them. */
const clientTools = ({ plugin_ids }: AgentInput): Pick<AgentInput, 'client_tools'> =>
  plugin_ids?.includes('frontend_tools') ? { client_tools: ['askUserQuestion', 'set_background_color'] } : {};

const toolAgents = (base: string, max_rounds: number): AgentInput[] => [
  {
    id: 'permission',
    system_prompt: base,
    max_rounds,
    plugin_ids: ['permission', 'frontend_tools'],
    sections: {
      permission: {
        default_behavior: 'ask',
        rules: [
          { tool: 'get_*', behavior: 'allow' },
          { tool: 'serverInfo', behavior: 'allow' },
          { tool: 'failingTool', behavior: 'deny' },
          { tool: 'delete_*', behavior: 'deny' },
        ],
      },
    },
  },
  {
    id: 'skills',
    system_prompt: base,
    max_rounds,
    plugin_ids: ['skills-discovery', 'skills-active-instructions', 'frontend_tools'],
  },
  { id: 'a2a', system_prompt: base, max_rounds, plugin_ids: ['frontend_tools'] },
];

const shortAgents = (effort: Pick<AgentInput, 'reasoning_effort'> | false): AgentInput[] => [
  { id: 'limited', system_prompt: prompts.BRIEF, max_rounds: 1, plugin_ids: ['permission'] },
  { id: 'stopper', system_prompt: prompts.BRIEF, max_rounds: 1 },
  { id: 'thinking', system_prompt: prompts.CONCISE, max_rounds: 1, ...effort },
];

const uiAgents = (): AgentInput[] => [
  { id: 'genui', system_prompt: prompts.GENUI, max_rounds: 2, plugin_ids: ['permission'] },
  {
    id: 'a2ui',
    system_prompt: prompts.A2UI,
    max_rounds: 8,
    plugin_ids: ['generative-ui'],
    allowed_tools: ['render_a2ui'],
  },
  { id: 'json-render', system_prompt: prompts.JSON_RENDER, max_rounds: 4, allowed_tools: ['render_json_ui'] },
  { id: 'openui', system_prompt: prompts.OPENUI, max_rounds: 4, allowed_tools: ['render_openui_ui'] },
  { id: 'json-render-ui', system_prompt: prompts.JSON_RENDER_UI, max_rounds: 1, allowed_tools: [] },
  { id: 'openui-ui', system_prompt: prompts.OPENUI_UI, max_rounds: 1, allowed_tools: [] },
];

const gatedAgents = (): AgentInput[] =>
  [
    { id: 'travel', system_prompt: prompts.TRAVEL, max_rounds: 3 },
    { id: 'research', system_prompt: prompts.RESEARCH, max_rounds: 3 },
    { id: 'phases', system_prompt: prompts.PHASES, max_rounds: 2, more: ['phase_logger'] },
    { id: 'profile', system_prompt: prompts.PROFILE, max_rounds: 3 },
    {
      id: 'creative',
      system_prompt: prompts.CREATIVE,
      max_rounds: 3,
      context_policy: policy(128_000, 4096, 6),
    },
    {
      id: 'compact',
      system_prompt: prompts.COMPACT,
      max_rounds: 3,
      context_policy: { ...policy(4096, 1024, 4), autocompact_threshold: 3072 },
    },
    { id: 'budget', system_prompt: prompts.BUDGET, max_rounds: 3, more: ['budget-stop'] },
    { id: 'config-assistant', system_prompt: prompts.CONFIG_ASSISTANT, max_rounds: 6 },
  ].map(({ more = [], ...agent }) => ({ ...agent, plugin_ids: ['permission', ...more] }));

const policy = (max_context_tokens: number, max_output_tokens: number, min_recent_messages: number) => ({
  max_context_tokens,
  max_output_tokens,
  min_recent_messages,
  enable_prompt_cache: false,
});
