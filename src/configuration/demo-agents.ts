import type { AgentInput } from '../schema/agent.ts';
import type { ReasoningEffort } from '../schema/model-settings.ts';
import { TEST_AGENTS } from '../schema/test-agents.ts';
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
    description: 'Responds to anything, and calls the demo tools.',
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
  // The banner of a start lists the first agents.
  const ordered = [...others.filter(({ id }) => !isTest(id)), ...others.filter(({ id }) => isTest(id))];
  return [replaced, ...ordered].map((agent) => ({ model_id: 'default', ...clientTools(agent), ...agent }));
};

const TESTS: ReadonlySet<string> = new Set(TEST_AGENTS);

const isTest = (id: string): boolean => TESTS.has(id);

/** The client executes these two tools anyway, so it may also declare them. */
const clientTools = ({ plugin_ids }: AgentInput): Pick<AgentInput, 'client_tools'> =>
  plugin_ids?.includes('frontend_tools') ? { client_tools: ['askUserQuestion', 'set_background_color'] } : {};

const toolAgents = (base: string, max_rounds: number): AgentInput[] => [
  {
    id: 'permission',
    description: 'Asks for approval before it calls most tools.',
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
    description: 'Activates skills: instructions that are loaded when they are needed.',
    system_prompt: base,
    max_rounds,
    plugin_ids: ['skills-discovery', 'skills-active-instructions', 'frontend_tools'],
  },
  {
    id: 'a2a',
    description: 'Serves other agents and services over A2A.',
    system_prompt: base,
    max_rounds,
    plugin_ids: ['frontend_tools'],
  },
];

const shortAgents = (effort: Pick<AgentInput, 'reasoning_effort'> | false): AgentInput[] => [
  {
    id: 'limited',
    description: 'Stops after one inference, with a permission check of each tool.',
    system_prompt: prompts.BRIEF,
    max_rounds: 1,
    plugin_ids: ['permission'],
  },
  { id: 'stopper', description: 'Stops after one inference.', system_prompt: prompts.BRIEF, max_rounds: 1 },
  {
    id: 'thinking',
    description: 'Reasons before it responds, with a model that supports it.',
    system_prompt: prompts.CONCISE,
    max_rounds: 1,
    ...effort,
  },
];

const uiAgents = (): AgentInput[] => [
  {
    id: 'genui',
    description: 'Responds with a user interface as one JSON document.',
    system_prompt: prompts.GENUI,
    max_rounds: 2,
    plugin_ids: ['permission'],
  },
  {
    id: 'a2ui',
    description: 'Draws user interfaces in the A2UI format.',
    system_prompt: prompts.A2UI,
    max_rounds: 8,
    plugin_ids: ['generative-ui'],
    allowed_tools: ['render_a2ui'],
  },
  {
    id: 'json-render',
    description: 'Draws user interfaces with a sub-agent that writes JSON patches.',
    system_prompt: prompts.JSON_RENDER,
    max_rounds: 4,
    allowed_tools: ['render_json_ui'],
  },
  {
    id: 'openui',
    description: 'Draws user interfaces with a sub-agent that writes OpenUI Lang.',
    system_prompt: prompts.OPENUI,
    max_rounds: 4,
    allowed_tools: ['render_openui_ui'],
  },
  {
    id: 'json-render-ui',
    description: 'Writes the user interfaces of json-render.',
    system_prompt: prompts.JSON_RENDER_UI,
    max_rounds: 1,
    allowed_tools: [],
  },
  {
    id: 'openui-ui',
    description: 'Writes the user interfaces of openui.',
    system_prompt: prompts.OPENUI_UI,
    max_rounds: 1,
    allowed_tools: [],
  },
];

const gatedAgents = (): AgentInput[] =>
  [
    {
      id: 'travel',
      description: 'Plans trips, and asks for approval of each change.',
      system_prompt: prompts.TRAVEL,
      max_rounds: 3,
    },
    {
      id: 'research',
      description: 'Researches a question, collects sources and writes a report.',
      system_prompt: prompts.RESEARCH,
      max_rounds: 3,
    },
    {
      id: 'phases',
      description: 'Logs each phase of a run.',
      system_prompt: prompts.PHASES,
      max_rounds: 2,
      more: ['phase_logger'],
    },
    {
      id: 'profile',
      description: 'Remembers what users report about themselves.',
      system_prompt: prompts.PROFILE,
      max_rounds: 3,
    },
    {
      id: 'creative',
      description: 'Writes with imagination, within a small context policy.',
      system_prompt: prompts.CREATIVE,
      max_rounds: 3,
      context_policy: policy(128_000, 4096, 6),
    },
    {
      id: 'compact',
      description: 'Compacts its history after a few thousand tokens.',
      system_prompt: prompts.COMPACT,
      max_rounds: 3,
      context_policy: { ...policy(4096, 1024, 4), autocompact_threshold: 3072 },
    },
    {
      id: 'budget',
      description: 'Stops at a token budget.',
      system_prompt: prompts.BUDGET,
      max_rounds: 3,
      more: ['budget-stop'],
    },
    {
      id: 'config-assistant',
      description: 'Advises on the configuration of this service.',
      system_prompt: prompts.CONFIG_ASSISTANT,
      max_rounds: 6,
    },
  ].map(({ more = [], ...agent }) => ({ ...agent, plugin_ids: ['permission', ...more] }));

const policy = (max_context_tokens: number, max_output_tokens: number, min_recent_messages: number) => ({
  max_context_tokens,
  max_output_tokens,
  min_recent_messages,
  enable_prompt_cache: false,
});
