import { type A2aDiscovery, createA2aDiscovery } from '../a2a/discovery.ts';
import { createRemoteAgents } from '../a2a/remote/agents.ts';
import type { RemoteAgents } from '../configuration/agents.ts';
import type { Configuration } from '../configuration/control-plane/service.ts';
import { createMcpManager, type McpManager } from '../mcp/index.ts';
import type { Settings } from '../settings/index.ts';
import { openConnections, type UserConnections } from './connections.ts';
import type { Foundation } from './foundation.ts';
import { createMcpToolStore } from './mcp-tools.ts';
import { version } from './version.ts';

/** The clients of other services: A2A servers, MCP servers and model providers. */
export type Peers = {
  readonly a2a: A2aDiscovery;
  readonly mcp: McpManager;
  readonly connections: UserConnections;
  readonly remoteAgents: RemoteAgents;
  /** Publishes the agents and tools that the servers offer, including those that arrived before. */
  publishTo(config: Configuration): void;
  close(): Promise<void>;
};

export const createPeers = (foundation: Foundation): Peers => {
  const { settings, log, clock, metrics, store, actors } = foundation;
  // Agent cards and MCP tools may arrive before there is a configuration to publish them in.
  let publish = async (): Promise<void> => {};
  const changed = (): void => {
    publish().catch((err) => log.warn('config.discovered_not_published', { err }));
  };
  const a2a = createA2aDiscovery({ clock, log, changed, remote: remoteOf(settings) });
  const tools = createMcpToolStore({ store, log });
  const connections = openConnections(foundation);
  const manager = createMcpManager({
    clock,
    log,
    version,
    refreshMs: settings.mcp_refresh_interval_secs * 1000,
    actors,
    scope: settings.scope_id,
    observe: metrics.mcpServers,
    records: tools,
    authorization: connections.authorization,
    changed,
  });
  connections.follow(manager);
  const mcp: McpManager = {
    ...manager,
    // Connections to the former address of an entry are removed before its new one is used.
    apply(specs) {
      connections.apply(specs);
      manager.apply(specs);
    },
    retain(servers) {
      connections.retain(servers);
      manager.retain(servers);
    },
  };
  return {
    a2a,
    mcp,
    connections,
    remoteAgents: createRemoteAgents({ log, actors }),
    publishTo({ service, live }) {
      tools.open(service.audit);
      publish = live.refresh;
      if (a2a.discovered().length > 0) changed();
    },
    async close() {
      a2a.close();
      await mcp.close();
      await connections.close();
    },
  };
};

const remoteOf = ({ a2a_remote_url: base_url, a2a_remote_bearer_token: token }: Settings) =>
  base_url === undefined ? undefined : { base_url, token };
