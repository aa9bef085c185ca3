import type { ConfigRecord } from '../../schema/config-record.ts';
import { hasUnreadableAuth } from '../../schema/mcp-auth.ts';
import { NotFound, Unavailable } from '../../schema/outcome.ts';
import { budgetWarnings } from '../budget-warnings.ts';
import { delegateCircles } from '../delegate-circles.ts';
import type { AuthWarning, SecretWarning, ToolWarning } from '../diagnostics.ts';
import { permissionPreview } from '../permission-preview.ts';
import { leftOutProviderTools } from '../provider-tools.ts';
import { unknownSections } from '../sections.ts';
import { settingWarnings } from '../setting-warnings.ts';
import { unknownModels } from '../unknown-models.ts';
import type { ConfigService } from './api.ts';
import { withoutToolsOfAgents } from './problems.ts';
import type { Publisher } from './publisher.ts';
import type { McpServers } from './servers.ts';
import { recordsIn, type Stored } from './stored.ts';

/** Reports problems of the stored configuration, and the tools that live agents may use (config.md 6.1, 6.4). */
export const createReports = (
  publisher: Pick<Publisher, 'current' | 'live' | 'stored'>,
  mcp: Pick<McpServers, 'leftOut'> | undefined,
): Pick<ConfigService, 'diagnostics' | 'permissionPreview'> => ({
  diagnostics() {
    const snapshot = publisher.current();
    return [
      ...withoutToolsOfAgents(snapshot, snapshot.registry.diagnostics()),
      ...unknownSections(snapshot.records.agents, snapshot.plugins),
      ...leftOutProviderTools(snapshot.records, snapshot.registry.hasTools),
      ...unreadableAuth(publisher.stored()['mcp-servers'].values()),
      ...droppedSecrets(publisher.stored()),
      ...(mcp ? leftOutTools(mcp) : []),
      ...delegateCircles(snapshot.records.agents),
      ...settingWarnings(snapshot.records),
      ...unknownModels(snapshot.registry.models),
      ...budgetWarnings(snapshot.budgets, snapshot.records, snapshot.registry.models.gaps()),
    ];
  },
  permissionPreview(agentId) {
    const { registry, plugins, tools, pluginTools, mcpServers } = publisher.live();
    if (!plugins.some(({ id }) => id === 'permission')) {
      throw new Unavailable('permission plugin is not available');
    }
    const agent = registry.spec(agentId);
    if (!agent) throw new NotFound(`agent not found: ${agentId}`);
    const registered = [...tools.map(({ descriptor }) => descriptor), ...pluginTools()].map(({ id }) => id);
    return { ...permissionPreview(agent, { tools: registered, mcp_servers: mcpServers }) };
  },
});

/** Such an entry is omitted when entries are published. */
const unreadableAuth = (records: Iterable<ConfigRecord>): AuthWarning[] =>
  [...records]
    .filter(({ hidden, spec }) => !hidden && hasUnreadableAuth(spec))
    .map(({ id }) => ({
      code: 'mcp_auth_unreadable' as const,
      severity: 'warning' as const,
      resource: { namespace: 'mcp-servers' as const, id },
      message: `mcp server '${id}' is ignored: its auth is not readable by this version`,
    }));

/** Reported until the secret is given or the entry changes. */
const droppedSecrets = (stored: Stored): SecretWarning[] =>
  recordsIn(stored)
    .filter(({ hidden }) => !hidden)
    .flatMap(({ namespace, id, dropped_secrets = [] }) =>
      dropped_secrets.map((field) => ({
        code: 'secret_dropped' as const,
        severity: 'warning' as const,
        resource: { namespace, id },
        field,
        message: `${namespace}/${id} was stored without '${field}', which was given for another destination or is no longer stored: give it again`,
      })),
    );

/** Limit per server, whose status lists all of them. */
const MOST_NAMED = 20;

const leftOutTools = (mcp: Pick<McpServers, 'leftOut'>): ToolWarning[] =>
  mcp.leftOut().flatMap(({ server, tools }) =>
    tools.slice(0, MOST_NAMED).map(({ name, reason }) => ({
      code: 'mcp_tool_left_out' as const,
      severity: 'warning' as const,
      resource: { namespace: 'mcp-servers' as const, id: server },
      message: `tool '${name}' of mcp server '${server}' is not offered: ${reason}`,
    })),
  );
