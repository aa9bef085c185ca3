import type { McpInventory, McpStatus } from '../../schema/mcp-status.ts';
import { NotFound, Unavailable } from '../../schema/outcome.ts';
import type { Store } from '../../store/index.ts';
import { anyLive, liveEntry } from './live-entry.ts';

/** What the routes ask of the connections to MCP servers (config.md 13). */
export type McpServerStatus = {
  /** @throws NotFound `mcp-server/<id>` */
  status(id: string): McpStatus;
  /** @throws NotFound */
  inventory(id: string): Promise<McpInventory>;
  /** Resolves when the reconnect is accepted. @throws NotFound, or Unavailable when no server is configured */
  restart(id: string): Promise<void>;
};

/** Of servers that nobody connects to: configured, and never seen. */
export const createKnownMcp = (store: Pick<Store, 'config'>): McpServerStatus => {
  const known = (id: string): void => {
    if (!liveEntry(store, 'mcp-servers', id)) throw new NotFound(`mcp-server/${id}`);
  };
  return {
    status(id) {
      known(id);
      return { ...NEVER_SEEN };
    },
    async inventory(id) {
      known(id);
      return { ...NEVER_SEEN, prompts: [], resources: [] };
    },
    async restart(id) {
      if (!anyLive(store, 'mcp-servers')) {
        throw new Unavailable('invalid managed config: no MCP registry is active');
      }
      known(id);
    },
  };
};

const NEVER_SEEN: McpStatus = {
  connected: false,
  last_error: null,
  tools: [],
  consecutive_failures: 0,
  last_attempt_at: null,
  last_success_at: null,
  reconnecting: false,
  permanently_failed: false,
  session_generation: 0,
  transport_reconnect_count: 0,
  last_init_at: null,
};
