import { readAgentsFile } from '../configuration/agents-file.ts';
import { builtInPlugins } from '../configuration/built-in-plugins.ts';
import { type Configuration, createConfigService } from '../configuration/control-plane/service.ts';
import { mergeRecords, NO_RECORDS } from '../configuration/records.ts';
import { defaultProvider, needsListedModel, seedMcpServers, seedRecords } from '../configuration/seed.ts';
import { seedSkills } from '../configuration/seed-skills.ts';
import { readFirstModel } from '../models/first-model.ts';
import { KEY_VARIABLES } from '../models/provider.ts';
import { createRoutes } from '../models/route.ts';
import type { Transport } from '../models/transport/types.ts';
import type { Log } from '../observability/log.ts';
import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import { createUlids } from '../schema/ulid.ts';
import { isOnLoopback, type Settings } from '../settings/index.ts';
import type { Store } from '../store/index.ts';
import type { SubAgents } from '../tools/sub-agent.ts';
import type { Tool } from '../tools/tool.ts';
import type { Execution } from './execution.ts';
import { createFileReader } from './files.ts';
import type { Foundation } from './foundation.ts';
import type { AppInput } from './input.ts';
import type { Peers } from './peers.ts';
import { version } from './version.ts';

/**
 * Builds the configuration of a starting service from seeds, entries of the program and stored entries.
 *
 * @param execution called once runs or the assistant are used
 * @throws Invalid when an entry of any of these sources is unusable
 */
export const openConfiguration = async (
  foundation: Foundation,
  peers: Peers,
  execution: () => Pick<Execution, 'runtime' | 'assistant'>,
): Promise<Configuration> => {
  const { input, settings, store, clock, ids, log, metrics, breakers, transport } = foundation;
  const { agents_file, skills_dir } = settings.seed;
  const subAgents: SubAgents = {
    start: (request) => execution().runtime.subAgents.start(request),
    proceed: (request) => execution().runtime.subAgents.proceed(request),
    end: (...child) => execution().runtime.subAgents.end(...child),
  };
  const skills = await seedSkills(skills_dir);
  for (const { id, problem } of skills.broken) log.warn('skill.unusable', { skill: id, problem });
  const seed = seedRecords(
    await withListedModel(settings, foundation),
    agents_file === undefined ? {} : readAgentsFile(agents_file),
  );
  return createConfigService({
    store,
    clock,
    ids,
    log,
    ulid: createUlids(),
    audit: { settings: settings.audit_log, observe: metrics.audit },
    program: {
      version,
      seeds: settings.leader_seed,
      records: mergeRecords(seed, input.records ?? NO_RECORDS, settings.entries),
      skills,
      mcpServers: seedMcpServers(settings.seed.mcp_server_cmd),
      tools: [...(await demoTools(settings, subAgents)), ...(input.tools ?? [])],
      plugins: (source) => [...builtInPlugins({ log, skills: source }), ...(input.plugins ?? [])],
      providers: input.providers ?? [],
    },
    routes: createRoutes({ breakers, maxRetryAfterMs: settings.models.max_retry_after_ms }),
    env: input.env ?? {},
    transport,
    files: createFileReader(foundation.files),
    secrets: secretsOf(settings, input.env ?? {}),
    subAgents,
    remoteAgents: peers.remoteAgents,
    mcp: peers.mcp,
    a2a: peers.a2a,
    budgets: foundation.meter,
    assistant: () => execution().assistant.capabilities(),
    localKind: settings.local_backend_kind,
    missingForUsers: missingIn(settings),
    refreshMs: settings.config_refresh_interval_secs * 1000,
  });
};

/** Settings that connected accounts of users need. */
const missingIn = ({ secrets_key, public_url, http_addr }: Settings) => ({
  secretsKey: secrets_key === undefined,
  publicUrl: public_url === undefined && !isOnLoopback(http_addr),
});

/** Loaded for the demo only. */
const demoTools = async ({ seed }: Settings, subAgents: SubAgents): Promise<Tool[]> => {
  if (seed.profile !== 'demo') return [];
  const { createDemoTools } = await import('../tools/demo.ts');
  const { createStreamingUiTools } = await import('../plugins/generative-ui/streaming.ts');
  return [...createDemoTools(), ...createStreamingUiTools({ subAgents })];
};

/** Secrets of the settings, and keys that providers may read from the environment. */
const secretsOf = (settings: Settings, env: NonNullable<AppInput['env']>): (string | undefined)[] => [
  settings.AdminApiConfig.bearer_token,
  settings.secrets_key,
  settings.a2a_extended_card_bearer_token,
  settings.a2a_remote_bearer_token,
  settings.openai.api_key,
  ...KEY_VARIABLES.map((name) => env[name]?.trim()),
];

/**
 * The settings with the model that the server of `OPENAI_BASE_URL` lists, where no model is configured. If that server
 * does not respond, the model that it listed at an earlier start is used.
 *
 * @throws Invalid when the server does not respond and no earlier start used it
 */
const withListedModel = async (
  settings: Settings,
  { store, log, transport }: { store: Store; log: Log; transport: Transport },
): Promise<Settings> => {
  if (!settings.leader_seed || !needsListedModel(settings)) return settings;
  const provider = defaultProvider(settings);
  const found = await readFirstModel(provider, transport);
  const withModel = (model: string): Settings => ({ ...settings, seed: { ...settings.seed, model } });
  if ('upstream' in found) return withModel(found.upstream);
  const { problem } = found;
  const before = listedBefore(store, provider);
  if (before === undefined) {
    throw new Invalid(
      `OPENAI_BASE_URL: ${problem}; start that server first, or set AGENT_MODEL to one of its models`,
    );
  }
  log.warn('seed.model_list_unavailable', { problem, model: before });
  return withModel(before);
};

const listedBefore = ({ config }: Store, { base_url }: ProviderSpec): string | undefined => {
  const [provider, model] = [config.get('providers', 'default'), config.get('models', 'default')];
  const upstream = model?.spec.upstream_model;
  const isSame = provider?.spec.base_url === base_url && model?.source.kind === 'builtin';
  return isSame && typeof upstream === 'string' ? upstream : undefined;
};
