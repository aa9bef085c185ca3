import { ADAPTER_DEFAULTS, adapterName } from '../models/provider.ts';
import { type AgentInput, AgentSpec } from '../schema/agent.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import type { ReasoningEffort } from '../schema/model-settings.ts';
import { Invalid } from '../schema/outcome.ts';
import { isWithin } from '../schema/web-address.ts';
import type { AgentChanges } from './agents-file.ts';
import { demoAgents } from './demo-agents.ts';
import { NO_RECORDS, type Records } from './records.ts';

/**
 * The initial records of the service (agent-loop.md 18): a provider and a model `default`, and the agents of the
 * profile. Without a key of a real provider, completions are scripted.
 */

export type SeedSettings = {
  profile: 'minimal' | 'demo';
  /** Upstream name of model `default`; derived from the provider if absent. */
  model: string | undefined;
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

/**
 * @param changes the changes of the agents file
 * @throws Invalid when the key would be sent to another company than it was issued for, or no model is known
 */
export const seedRecords = (input: SeedInput, changes: AgentChanges = {}): Records => {
  const { seed, default_agent_id } = input;
  const demo = seed.profile === 'demo';
  const agents = demo
    ? [...demoAgents(seed, default_agent_id), ...benchAgents]
    : [minimalAgent(seed, default_agent_id)];
  return {
    ...NO_RECORDS,
    providers: [defaultProvider(input), ...(demo ? [benchProvider] : [])],
    models: [
      { id: 'default', provider_id: 'default', upstream_model: defaultUpstream(input) },
      ...(demo ? benchModels : []),
    ],
    agents: changed(agents, changes).map((agent) => AgentSpec.parse(agent)),
  };
};

/** Returns the server of the setting in the form of an entry. */
export const seedMcpServers = (
  commandLine: readonly string[] | undefined,
): (JsonObject & { id: string })[] => {
  const [command, ...args] = commandLine ?? [];
  return command === undefined ? [] : [{ id: 'mcp_demo', transport: 'stdio', command, args }];
};

/** @throws Invalid when a change names an unknown agent, or one that does not support it */
const changed = (agents: readonly AgentInput[], changes: AgentChanges): AgentInput[] => {
  const ids = agents.map(({ id }) => id);
  const unknown = Object.keys(changes).find((id) => !ids.includes(id));
  if (unknown !== undefined) {
    throw new Invalid(`seed.agents_file: no seeded agent '${unknown}'; there are ${ids.join(', ')}`);
  }
  return agents.map((agent) => {
    const { system_prompt, catalog } = changes[agent.id] ?? {};
    if (catalog !== undefined && !agent.plugin_ids?.includes('generative-ui')) {
      throw new Invalid(
        `seed.agents_file: agent '${agent.id}' does not have the plugin generative-ui, so it has no catalog`,
      );
    }
    const section = typeof catalog === 'string' ? { catalog_id: catalog } : catalog;
    return {
      ...agent,
      ...(system_prompt !== undefined && { system_prompt }),
      ...(section && { sections: { ...agent.sections, 'generative-ui': section } }),
    };
  });
};

/** A current model of OpenAI, for a key without a model. */
const OPENAI_MODEL = 'gpt-5.6';
const SCRIPTED_MODEL = 'scripted';
const OPENAI_BASE_URL = ADAPTER_DEFAULTS.openai?.base_url ?? '';

type Seeded = Pick<SeedInput, 'seed' | 'openai'>;

const isScripted = ({ openai }: Seeded): boolean =>
  openai.api_key === undefined && openai.base_url === undefined;

const isAtOpenAi = ({ openai }: Seeded): boolean =>
  openai.base_url === undefined || isWithin(openai.base_url, new URL(OPENAI_BASE_URL).origin);

/**
 * The adapter never depends on the name of the model: each adapter has a host of its company, and the key was issued
 * for one company.
 */
export const defaultProvider = (input: Seeded): ProviderSpec => {
  if (isScripted(input)) return { id: 'default', adapter: 'scripted' };
  const { seed, openai } = input;
  const adapter = seed.openai_adapter ?? (isAtOpenAi(input) ? 'openai_resp' : 'openai');
  const home = ADAPTER_DEFAULTS[adapterName(adapter)];
  if (openai.base_url === undefined && home && home.base_url !== OPENAI_BASE_URL) {
    throw new Invalid(
      `OPENAI_ADAPTER: '${adapter}' would send OPENAI_API_KEY to another company than OpenAI; allowed: openai, openai_resp, or any adapter with OPENAI_BASE_URL (a provider with this adapter can take its key from ${home.key_variable})`,
    );
  }
  return {
    id: 'default',
    adapter,
    // A placeholder for local servers without a key, because the adapter requires one.
    api_key: openai.api_key ?? 'none',
    ...(openai.base_url !== undefined && { base_url: openai.base_url }),
  };
};

/** Only the server itself can list its models. */
export const needsListedModel = (input: Seeded): boolean =>
  input.seed.model === undefined && !isScripted(input) && !isAtOpenAi(input);

const defaultUpstream = (input: Seeded): string => {
  if (input.seed.model !== undefined) return input.seed.model;
  if (isScripted(input)) return SCRIPTED_MODEL;
  if (isAtOpenAi(input)) return OPENAI_MODEL;
  throw new Invalid('AGENT_MODEL: required with OPENAI_BASE_URL, because the server lists no model');
};

/** Providers that `troupe dev` uses as `default` if only one of these keys is in the environment. */
const DEV_PROVIDERS = [
  { variable: 'ANTHROPIC_API_KEY', adapter: 'anthropic', model: 'claude-sonnet-5-5' },
  { variable: 'GEMINI_API_KEY', adapter: 'gemini', model: 'gemini-3.8-flash' },
] as const;

export const devRecords = (env: Record<string, string | undefined>, model: string | undefined): Records => {
  const found = DEV_PROVIDERS.find(({ variable }) => env[variable]?.trim());
  if (!found) return NO_RECORDS;
  return {
    ...NO_RECORDS,
    providers: [{ id: 'default', adapter: found.adapter, adapter_options: { allow_env_credentials: true } }],
    models: [{ id: 'default', provider_id: 'default', upstream_model: model ?? found.model }],
  };
};

const minimalAgent = (seed: SeedSettings, id: string): AgentInput => ({
  id,
  model_id: 'default',
  system_prompt: seed.system_prompt,
  max_rounds: 3,
  plugin_ids: ['observability'],
  ...(seed.reasoning_effort !== undefined && { reasoning_effort: seed.reasoning_effort }),
});

/** A provider to measure the service itself: 200 deltas for any request, at once or 20 ms apart. */
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

/** By id of the model and of its agent. */
const BENCH = {
  bench: 'Streams 200 tokens at once, to measure the service itself.',
  'bench-paced': 'Streams 200 tokens, one every 20 ms, to measure concurrent runs.',
};

const benchModels: ModelSpec[] = Object.keys(BENCH).map((id) => ({
  id,
  provider_id: 'bench',
  upstream_model: id,
}));

const benchAgents: AgentInput[] = Object.entries(BENCH).map(([id, description]) => ({
  id,
  description,
  model_id: id,
  max_rounds: 1,
  allowed_tools: [],
}));
