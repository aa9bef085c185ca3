import type { JsonObject } from '../../schema/json.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { indexed } from '../engine/keys.ts';

/**
 * The last tool list of each MCP server whose connections belong to accounts (identity.md 6.1), by server. A service
 * cannot list these tools at a start, since it has no account.
 */

export type McpCatalogRow = {
  server: string;
  /** The address that listed the tools; those of another address are not offered. */
  url: string;
  /** Validated by its reader, as the server sent them. */
  tools: JsonObject[];
  /** Listed tools with illegal definitions. */
  unusable: { name: string; reason: string }[];
  listed_at: number;
};

export type McpCatalogTable = {
  get(server: string): McpCatalogRow | undefined;
  all(): Iterable<McpCatalogRow>;
  put(batch: Batch, catalog: McpCatalogRow): void;
  remove(batch: Batch, server: string): void;
};

export const createMcpCatalogTable = (env: Environment): McpCatalogTable => {
  const rows = env.table<McpCatalogRow>('mcp_catalogs');
  return {
    get: (server) => rows.get([indexed(server)]),
    *all() {
      for (const { value } of rows.entries({ prefix: [] })) yield value;
    },
    put: (batch, catalog) => rows.put(batch, [indexed(catalog.server)], catalog),
    remove: (batch, server) => rows.remove(batch, [indexed(server)]),
  };
};
