import { monotonicFactory } from 'ulid';
import type { AppInput } from './app-input.ts';
import type { McpManager } from './mcp/index.ts';
import type { Breakers } from './models/breakers.ts';
import { createRoutes } from './models/route.ts';
import { createStreamingUiTools } from './plugins/generative-ui/streaming.ts';
import type { RemoteAgents } from './registry/agents.ts';
import { readAgentsFile } from './registry/agents-file.ts';
import { builtInPlugins } from './registry/built-in-plugins.ts';
import type { A2aServers } from './registry/config/servers.ts';
import { type Configuration, createConfigService } from './registry/config/service.ts';
import { mergeRecords, NO_RECORDS } from './registry/records.ts';
import { seedMcpServers, seedRecords } from './registry/seed.ts';
import { seedSkills } from './registry/seed-skills.ts';
import type { Clock, Ids } from './schema/clock.ts';
import type { JsonObject } from './schema/endpoint.ts';
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
    assistant(): JsonObject;
  },
): Promise<Configuration> => {
  const { settings } = input;
  const { agents_file, skills_dir, profile } = settings.seed;
  const { log, metrics, subAgents, breakers } = parts;
  const skills = await seedSkills(skills_dir);
  for (const { id, problem } of skills.broken) log.warn({ skill: id, problem }, 'skill cannot be used');
  const seed = seedRecords(settings, agents_file === undefined ? {} : readAgentsFile(agents_file));
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
    localKind: settings.local_backend_kind,
    refreshMs: settings.config_refresh_interval_secs * 1000,
  });
};
