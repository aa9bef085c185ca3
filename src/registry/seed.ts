import { AgentSpec } from '../schema/agent.ts';
import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import type { ReasoningEffort } from '../schema/run.ts';
import type { Records } from './records.ts';

/**
 * The records that the service begins with (agent-loop.md 18): a provider and a model `default`, and the agents
 * of the profile. Without a key of a real provider the answers are scripted.
 */

export type SeedSettings = {
  profile: 'minimal' | 'demo';
  model: string;
  max_rounds: number;
  system_prompt: string;
  reasoning_effort: ReasoningEffort | undefined;
  openai_adapter: string | undefined;
};

export type SeedInput = {
  seed: SeedSettings;
  default_agent_id: string;
  openai: { api_key: string | undefined; base_url: string | undefined };
};

export const seedRecords = ({ seed, default_agent_id, openai }: SeedInput): Records => {
  const demo = seed.profile === 'demo';
  return {
    providers: [defaultProvider(seed, openai), ...(demo ? [benchProvider] : [])],
    models: [
      { id: 'default', provider_id: 'default', upstream_model: seed.model },
      ...(demo ? benchModels : []),
    ],
    agents: (demo ? demoAgents(seed, default_agent_id) : [minimalAgent(seed, default_agent_id)]).map(
      (agent) => AgentSpec.parse(agent),
    ),
  };
};

const defaultProvider = (seed: SeedSettings, openai: SeedInput['openai']): ProviderSpec => {
  if (openai.api_key === undefined && openai.base_url === undefined)
    return { id: 'default', adapter: 'scripted' };
  return {
    id: 'default',
    adapter: seed.openai_adapter ?? inferAdapter(seed.model),
    // A local server that needs no key still gets one: the provider packages insist on it.
    api_key: openai.api_key ?? 'none',
    ...(openai.base_url !== undefined && { base_url: openai.base_url }),
  };
};

const ADAPTER_OF_MODEL: readonly [RegExp, string][] = [
  [/^gpt-5/, 'openai_resp'],
  [/^deepseek/, 'deepseek'],
  [/together/, 'together'],
  [/fireworks/, 'fireworks'],
];

const inferAdapter = (model: string): string =>
  ADAPTER_OF_MODEL.find(([pattern]) => pattern.test(model))?.[1] ?? 'openai';

/** What `troupe dev` takes for provider `default` when only one of these keys is in the environment. */
const DEV_PROVIDERS = [
  { variable: 'ANTHROPIC_API_KEY', adapter: 'anthropic', model: 'claude-sonnet-4-5' },
  { variable: 'GEMINI_API_KEY', adapter: 'gemini', model: 'gemini-2.5-flash' },
] as const;

export const devRecords = (env: Record<string, string | undefined>, model: string | undefined): Records => {
  const found = DEV_PROVIDERS.find(({ variable }) => env[variable]?.trim());
  if (!found) return { providers: [], models: [], agents: [] };
  return {
    providers: [{ id: 'default', adapter: found.adapter, adapter_options: { allow_env_credentials: true } }],
    models: [{ id: 'default', provider_id: 'default', upstream_model: model ?? found.model }],
    agents: [],
  };
};

const minimalAgent = (seed: SeedSettings, id: string) => ({
  id,
  model_id: 'default',
  system_prompt: seed.system_prompt,
  max_rounds: 3,
  ...(seed.reasoning_effort !== undefined && { reasoning_effort: seed.reasoning_effort }),
});

const TOOL_ROUTING = `

When the user asks for one of these words, call the tool beside it:
RUN_WEATHER_TOOL get_weather; RUN_STOCK_TOOL get_stock_price; RUN_APPEND_NOTE append_note;
RUN_SERVER_INFO serverInfo; RUN_FAILING_TOOL failingTool; RUN_FINISH_TOOL finish;
RUN_PROGRESS_DEMO progress_demo; RUN_ASK_USER_TOOL askUserQuestion.`;

const demoAgents = (seed: SeedSettings, defaultId: string) => {
  const effort = seed.reasoning_effort !== undefined && { reasoning_effort: seed.reasoning_effort };
  const agents = [
    {
      id: 'stopper',
      model_id: 'default',
      system_prompt: 'Answer in one or two sentences.',
      max_rounds: 1,
    },
    { id: 'thinking', model_id: 'default', system_prompt: 'Be concise.', max_rounds: 1, ...effort },
    { id: 'a2a', model_id: 'default', system_prompt: seed.system_prompt, max_rounds: seed.max_rounds },
    { id: 'bench', model_id: 'bench', max_rounds: 1, allowed_tools: [] },
    { id: 'bench-paced', model_id: 'bench-paced', max_rounds: 1, allowed_tools: [] },
  ];
  return [
    {
      id: defaultId,
      model_id: 'default',
      system_prompt: seed.system_prompt + TOOL_ROUTING,
      max_rounds: 3,
      ...effort,
    },
    ...agents.filter((agent) => agent.id !== defaultId),
  ];
};

/** Answers for measuring the service itself: 200 deltas whatever is asked, at once or 20 ms apart. */
const benchProvider: ProviderSpec = {
  id: 'bench',
  adapter: 'scripted',
  adapter_options: {
    scripts: {
      bench: { tokens: 200, text: 'token ' },
      'bench-paced': { tokens: 200, text: 'token ', delay_ms: 20 },
    },
  },
};

const benchModels: ModelSpec[] = ['bench', 'bench-paced'].map((id) => ({
  id,
  provider_id: 'bench',
  upstream_model: id,
}));
