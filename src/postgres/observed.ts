import type { Connection, Connector } from './connection.ts';
import { ServerError } from './errors.ts';

/** Purposes of the connections of a process. */
export type ConnectionUse = 'start' | 'commit' | 'lease' | 'pool' | 'load';

export type ObservedConnectors = {
  /** Returns a connector whose connections count for the use. */
  of(use: ConnectionUse): Connector;
  /** The number of open connections by their use. */
  open(): ReadonlyMap<ConnectionUse, number>;
};

/** `failed` receives the class of each error: that of its SQLSTATE, or `lost` without an answer of the server. */
export const observeConnectors = (
  connector: Connector,
  failed: (errorClass: string) => void,
): ObservedConnectors => {
  const connections = new Map<ConnectionUse, Set<Connection>>();

  const report = (error: unknown): never => {
    failed(error instanceof ServerError ? error.code.slice(0, 2) : 'lost');
    throw error;
  };

  const openOf = (use: ConnectionUse): Set<Connection> => {
    const open = connections.get(use) ?? new Set();
    connections.set(use, open);
    for (const each of open) if (!each.isOpen) open.delete(each);
    return open;
  };

  return {
    of: (use) => ({
      async open(timeoutMs, signal) {
        const connection = await connector.open(timeoutMs, signal).catch(report);
        openOf(use).add(connection);
        return {
          get isOpen() {
            return connection.isOpen;
          },
          query: (statement, timeout) => connection.query<never>(statement, timeout).catch(report),
          run: (sql, timeout) => connection.run(sql, timeout).catch(report),
          destroy: () => connection.destroy(),
        };
      },
    }),
    open: () => new Map([...connections.keys()].map((use) => [use, openOf(use).size])),
  };
};
