import { monotonicFactory } from 'ulid';
import type { AppInput } from './app-input.ts';
import type { McpManager } from './mcp/index.ts';
import type { Breakers } from './models/breakers.ts';
import { readFirstModel } from './models/first-model.ts';
import { KEY_VARIABLES } from './models/provider.ts';
import { createRoutes } from './models/route.ts';
import type { Transport } from './models/transport/types.ts';
import { createStreamingUiTools } from './plugins/generative-ui/streaming.ts';
import type { RemoteAgents } from './registry/agents.ts';
import { readAgentsFile } from './registry/agents-file.ts';
import { builtInPlugins } from './registry/built-in-plugins.ts';
import type { A2aServers } from './registry/config/servers.ts';
import { type Configuration, createConfigService } from './registry/config/service.ts';
import { mergeRecords, NO_RECORDS } from './registry/records.ts';
import { defaultProvider, needsListedModel, seedMcpServers, seedRecords } from './registry/seed.ts';
import { seedSkills } from './registry/seed-skills.ts';
import type { Clock, Ids } from './schema/clock.ts';
import type { JsonObject } from './schema/endpoint.ts';
import type { ProviderSpec } from './schema/model.ts';
import { Invalid } from './schema/outcome.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store/index.ts';
import type { Log } from './telemetry/log.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { createDemoTools } from './tools/demo.ts';
import type { SubAgents } from './tools/sub-agent.ts';
import { version } from './version.ts';

/** The configuration that a service begins with: what is seeded, what the program brings, what the store has. */

/** Everything that a start brings must be usable. */
export const configurationOf = async (
  input: AppInput,
  parts: {
    store: Store;
    clock: Clock;
    ids: Ids;
    log: Log;
    metrics: Metrics;
    subAgents: SubAgents;
    remoteAgents: RemoteAgents;
    a2a: A2aServers;
    mcp: McpManager;
    breakers: Breakers;
    transport: Transport;
    assistant(): JsonObject;
  },
): Promise<Configuration> => {
  const { settings } = input;
  const { agents_file, skills_dir, profile } = settings.seed;
  const { log, metrics, subAgents, breakers } = parts;
  const skills = await seedSkills(skills_dir);
  for (const { id, problem } of skills.broken) log.warn({ skill: id, problem }, 'skill cannot be used');
  const seed = seedRecords(
    await withListedModel(settings, parts),
    agents_file === undefined ? {} : readAgentsFile(agents_file),
  );
  return createConfigService({
    ...parts,
    ulid: monotonicFactory(),
    audit: { settings: settings.audit_log, observe: metrics.audit },
    program: {
      version,
      seeds: settings.leader_seed,
      records: mergeRecords(seed, input.records ?? NO_RECORDS, settings.entries),
      skills,
      mcpServers: seedMcpServers(settings.seed.mcp_server_cmd),
      tools: [
        ...(profile === 'demo' ? [...createDemoTools(), ...createStreamingUiTools({ subAgents })] : []),
        ...(input.tools ?? []),
      ],
      plugins: (source) => [...builtInPlugins({ log, skills: source }), ...(input.plugins ?? [])],
      providers: input.providers ?? [],
    },
    routes: createRoutes({ breakers, maxRetryAfterMs: settings.models.max_retry_after_ms }),
    env: input.env ?? {},
    secrets: secretsOf(settings, input.env ?? {}),
    localKind: settings.local_backend_kind,
    refreshMs: settings.config_refresh_interval_secs * 1000,
  });
};

/** Those of the settings, and the keys that providers may take from the environment. */
const secretsOf = (settings: Settings, env: NonNullable<AppInput['env']>): (string | undefined)[] => [
  settings.AdminApiConfig.bearer_token,
  settings.secrets_key,
  settings.a2a_extended_card_bearer_token,
  settings.a2a_remote_bearer_token,
  settings.openai.api_key,
  ...KEY_VARIABLES.map((name) => env[name]?.trim()),
];

/**
 * The name of the model where it was left to the server of `OPENAI_BASE_URL`. A server that does not respond now has
 * the model that it listed at an earlier start.
 *
 * @throws Invalid when there was no earlier start with it
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
  log.warn({ problem, model: before }, 'the model of an earlier start is used, OPENAI_BASE_URL lists none');
  return withModel(before);
};

const listedBefore = ({ config }: Store, { base_url }: ProviderSpec): string | undefined => {
  const [provider, model] = [config.get('providers', 'default'), config.get('models', 'default')];
  const upstream = model?.spec.upstream_model;
  const isSame = provider?.spec.base_url === base_url && model?.source.kind === 'builtin';
  return isSame && typeof upstream === 'string' ? upstream : undefined;
};
