import { createDiscovery } from '../../models/discovery.ts';
import type { FileReader } from '../../models/file-input.ts';
import type { Provider } from '../../models/model.ts';
import type { Routes } from '../../models/route.ts';
import type { Transport } from '../../models/transport/types.ts';
import type { Plugin } from '../../plugins/plugin.ts';
import type { SkillSet, SkillSource } from '../../plugins/skills/source.ts';
import type { Clock, Ids } from '../../schema/clock.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { createLock } from '../../schema/lock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { keepSecrets } from '../../schema/redaction/known-secrets.ts';
import { timerMs } from '../../schema/timer.ts';
import type { Store } from '../../store/index.ts';
import type { SubAgents } from '../../tools/sub-agent.ts';
import type { Tool } from '../../tools/tool.ts';
import type { RemoteAgents } from '../agents.ts';
import type { MissingForUsers } from '../namespaces/mcp-servers.ts';
import { createNamespaces } from '../namespaces/namespaces.ts';
import type { Records } from '../records.ts';
import type { ConfigService } from './api.ts';
import { createAssembly } from './assembly.ts';
import { type AuditLog, type AuditObserver, type AuditSettings, createAuditLog } from './audit-log.ts';
import { createCapabilities } from './capabilities.ts';
import { createContentReader } from './content.ts';
import { createDrafts } from './drafts.ts';
import { createReads } from './entries.ts';
import { createFetch } from './fetch.ts';
import { createLive, type Live } from './live.ts';
import { createOverrideWrites } from './override-writes.ts';
import { startPublisher } from './publisher.ts';
import { createRemoval } from './removal.ts';
import { createReports } from './reports.ts';
import { createRestore } from './restore.ts';
import { createSectionNotes } from './section-notes.ts';
import type { A2aServers, Budgets, McpServers } from './servers.ts';
import type { SnapshotDeps } from './snapshot.ts';
import { createStart } from './start.ts';
import { createVersions } from './versions.ts';
import { createWrites } from './writes.ts';

/**
 * The configuration: the API for operators, and the state against which runs are resolved.
 *
 * Guarantees and costs are those of its parts: `publisher.ts` for changes, `snapshot.ts` for the live state, and
 * `snapshot-history.ts` for earlier states. This file connects them.
 */
export type Configuration = {
  service: ConfigService;
  live: Live;
  /** For changes that are not of the configuration. */
  audit: Pick<AuditLog, 'put' | 'written'>;
  close(): void;
};

export type ConfigDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  /** Returns strictly increasing ids that contain the given time. */
  ulid(now: number): string;
  log: Pick<ServiceLog, 'warn'>;
  audit: { settings: AuditSettings; observe: AuditObserver };
  /** The content of the program; `version` is that of the program. */
  program: {
    version: string;
    /** `false` disables seeding. */
    seeds: boolean;
    records: Records;
    skills: SkillSet;
    mcpServers?: readonly (JsonObject & { id: string })[];
    tools: readonly Tool[];
    plugins(skills: SkillSource): readonly Plugin[];
    providers: readonly Provider[];
  };
  routes: Routes;
  env: Readonly<Record<string, string | undefined>>;
  transport: Transport;
  /** If absent, no message may refer to a file. */
  files?: FileReader | undefined;
  /** Secrets of settings and the environment, which are masked in all external text. */
  secrets?: readonly (string | undefined)[];
  subAgents: SubAgents;
  remoteAgents?: RemoteAgents;
  localKind?: string;
  missingForUsers?: MissingForUsers;
  /** Interval between two checks of the stored records; 0 or undefined disables them. */
  refreshMs?: number;
  mcp?: McpServers;
  a2a?: A2aServers;
  budgets?: Budgets;
  /** Returns the part of the capabilities that the assistant provides. */
  assistant?(): JsonObject;
};

/** @throws Invalid when the content of the program is invalid; then nothing is stored */
export const createConfigService = async (deps: ConfigDeps): Promise<Configuration> => {
  const { store, clock, log, program, mcp, a2a, budgets, localKind = 'local' } = deps;
  const namespaces = createNamespaces({ localKind, missingForUsers: deps.missingForUsers ?? {} });
  const audit = createAuditLog({ ...deps, ...deps.audit });
  const discovery = createDiscovery(deps);
  const assembly = createAssembly({ tools: program.tools, mcp, a2a });
  const snapshots = snapshotPartsOf(deps);
  const read = createContentReader({ namespaces, log });
  const notes = createSectionNotes(log);
  const secrets = keepSecrets();
  secrets.add(deps.secrets ?? []);
  const publisher = await startPublisher(
    { ...deps, mcp, a2a, budgets, secrets, audit, read, assembly, discovery, snapshots, notes },
    createStart({ program, clock, snapshots, assembly, a2a, log }),
  ).catch((error) => {
    secrets.close();
    audit.close();
    throw error;
  });
  const lock = createLock();
  const refresh = (): Promise<void> => lock(publisher.refresh);
  let closed = false;
  const modelsChanged = (): void => {
    if (closed) return;
    refresh().catch((err) => log.warn('config.model_limits_not_applied', { err }));
  };
  const fetch = createFetch({ mcp, discovery, log, modelsChanged });
  const writing = { namespaces, publisher, audit, clock, lock, fetch };
  const reading = reloadEvery(deps.refreshMs ?? 0, () => lock(publisher.reload), log);
  const { records } = publisher.live();
  fetch.all(records.providers, records.models).catch((err) => log.warn('config.model_lists_failed', { err }));
  const registered = new Set(program.tools.map(({ descriptor }) => descriptor.id));
  const service: ConfigService = {
    ...createReads({ store, namespaces }),
    ...createWrites(writing),
    ...createRemoval({ ...writing, store }),
    ...createRestore({ ...writing, store }),
    drafts: createDrafts({ ...writing, store }),
    versions: createVersions({ store, publisher, namespaces }),
    overrides: createOverrideWrites(writing),
    ...createReports(publisher, mcp),
    capabilities: createCapabilities({
      live: publisher.live,
      namespaces,
      localKind,
      providers: program.providers.map(({ id }) => id),
      isMcpTool: (id) => !registered.has(id),
      assistant: deps.assistant ?? (() => ({})),
    }),
    audit: { page: audit.page, record: audit.record },
  };
  return {
    service,
    audit,
    live: createLive({ store, publisher, namespaces, lock, program, refresh }),
    close() {
      closed = true;
      clearInterval(reading);
      secrets.close();
      audit.close();
    },
  };
};

const snapshotPartsOf = ({
  program,
  routes,
  env,
  transport,
  files,
  subAgents,
  remoteAgents,
}: ConfigDeps): SnapshotDeps => ({
  plugins: program.plugins,
  fileSkills: program.skills,
  providers: program.providers,
  routes,
  env,
  transport,
  files,
  subAgents,
  remoteAgents,
});

const reloadEvery = (
  ms: number,
  reload: () => Promise<void>,
  log: ConfigDeps['log'],
): NodeJS.Timeout | undefined =>
  ms === 0
    ? undefined
    : setInterval(() => {
        reload().catch((err) => log.warn('config.reload_failed', { err }));
      }, timerMs(ms)).unref();
