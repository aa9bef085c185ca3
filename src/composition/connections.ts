import { createAccountRights, type MayUseAccount } from '../connections/account-rights.ts';
import { createConnections } from '../connections/connections.ts';
import type { Connections } from '../connections/types.ts';
import type { Authorization, McpManager } from '../mcp/index.ts';
import type { TokenAnswer } from '../mcp/token-source.ts';
import { resolveName } from '../outbound/public-address.ts';
import { ToolError } from '../tools/tool.ts';
import { anonymousAccess } from './boundary.ts';
import type { Foundation } from './foundation.ts';

/** The connections of users to MCP servers, and what calls with these connections need. */
export type UserConnections = Connections & {
  readonly authorization: Authorization;
  readonly mayUse: MayUseAccount;
  /** Sets the waits of calls, which are created after the servers. */
  bind(later: Later): void;
  /** Opens and closes the connections of accounts with their tokens. */
  follow(mcp: Pick<McpManager, 'openFor' | 'closeFor'>): void;
};

type Later = { wait?: Authorization['wait'] };

export const openConnections = (foundation: Foundation): UserConnections => {
  const { store, clock, log, metrics, settings, input } = foundation;
  const later: Later = {};
  const mayUse = createAccountRights(store, anonymousAccess(settings, input) === 'loopback');
  const connections = createConnections({
    store,
    clock,
    log,
    resolve: resolveName,
    refreshed: metrics.mcpServers.refreshed,
    refusalOf(account, server) {
      if (mayUse(account)) return undefined;
      return account.user === undefined
        ? `server '${server}' needs a signed-in user`
        : `server '${server}' is not available to this run: its credential may not use the connections of its user`;
    },
  });
  return {
    ...connections,
    mayUse,
    authorization: {
      tokens: { token: (...asked) => answered(connections, ...asked) },
      wait: (needed, call) => later.wait?.(needed, call) ?? Promise.reject(notConnected(needed.server)),
      catalogs: createCatalogStore(foundation),
    },
    bind: (given) => void Object.assign(later, given),
    follow(mcp) {
      connections.onConnected(mcp.openFor);
      connections.onEnded(mcp.closeFor);
    },
  };
};

const answered = async (
  connections: Connections,
  ...asked: Parameters<Connections['token']>
): Promise<TokenAnswer> => {
  const found = await connections.token(...asked);
  if (found.type === 'token' || found.type === 'refused') return found;
  return { type: 'auth_required', server: asked[1].id, scopes: found.scopes };
};

const notConnected = (server: string): ToolError =>
  new ToolError('execution_failed', `connect your account to server '${server}' first`);

const createCatalogStore = ({ store, clock, log }: Foundation): Authorization['catalogs'] => {
  const save = (change: (batch: ReturnType<typeof store.batch>) => void): void => {
    const batch = store.batch('commons');
    change(batch);
    store.commit(batch).catch((err) => log.warn('mcp.tools_not_stored', { err }));
  };
  return {
    read: (server) => store.mcpCatalogs.get(server),
    write: (catalog) => save((batch) => store.mcpCatalogs.put(batch, { ...catalog, listed_at: clock.now() })),
    retain(servers) {
      const obsolete = [...store.mcpCatalogs.all()].filter(({ server }) => !servers.has(server));
      if (obsolete.length > 0)
        save((batch) => {
          for (const { server } of obsolete) store.mcpCatalogs.remove(batch, server);
        });
    },
  };
};
