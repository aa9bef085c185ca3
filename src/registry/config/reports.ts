import { NotFound, Unavailable } from '../../schema/outcome.ts';
import { permissionPreview } from '../permission-preview.ts';
import { unknownSections } from '../sections.ts';
import type { ConfigService } from './api.ts';
import { withoutToolsOfAgents } from './problems.ts';
import type { Publisher } from './publisher.ts';

/** What is wrong with what is stored, and what the agents that are live may use (config.md 6.1, 6.4). */
export const createReports = (
  publisher: Pick<Publisher, 'current' | 'live'>,
): Pick<ConfigService, 'diagnostics' | 'permissionPreview'> => ({
  diagnostics() {
    const snapshot = publisher.current();
    return [
      ...withoutToolsOfAgents(snapshot, snapshot.registry.diagnostics()),
      ...unknownSections(snapshot.records.agents, snapshot.plugins),
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
