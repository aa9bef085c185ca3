import type { Connection, Connector, Statement } from './connection.ts';
import { ConnectionLost } from './errors.ts';

/**
 * A connection that is opened when a statement needs it, and again after it was lost. Statements are sent one at a
 * time, in the order of the calls.
 */
export type Lane = {
  /** @throws ServerError, ConnectionLost */
  query<Row extends object>(statement: Statement, timeoutMs: number): Promise<Row[]>;
  /** The number of statements that wait, with the one under way. */
  readonly pending: number;
  /** Ends the connection at once; pending statements fail, and later ones. */
  close(): void;
};

export const createLane = (connector: Connector): Lane => {
  let connection: Connection | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let pending = 0;
  const closing = new AbortController();

  const open = async (timeoutMs: number): Promise<Connection> => {
    const opened = connection?.isOpen ? connection : await connector.open(timeoutMs, closing.signal);
    connection = opened;
    if (closing.signal.aborted) opened.destroy();
    return opened;
  };

  const send = async <Row extends object>(statement: Statement, timeoutMs: number): Promise<Row[]> => {
    if (closing.signal.aborted) throw new ConnectionLost('the database is closed', { wasSent: false });
    const started = performance.now();
    const opened = await open(timeoutMs);
    return opened.query<Row>(statement, Math.max(1, timeoutMs - (performance.now() - started)));
  };

  return {
    query: async <Row extends object>(statement: Statement, timeoutMs: number) => {
      pending += 1;
      const result = last.then(() => send<Row>(statement, timeoutMs));
      last = result.catch(() => {});
      try {
        return await result;
      } finally {
        pending -= 1;
      }
    },
    get pending() {
      return pending;
    },
    close() {
      closing.abort();
      connection?.destroy();
    },
  };
};

/** Several lanes: a statement takes the one that has the fewest. */
export const createLanes = (connector: Connector, size: number): Lane => {
  const lanes = Array.from({ length: size }, () => createLane(connector));
  return {
    query: (statement, timeoutMs) =>
      lanes.reduce((a, b) => (b.pending < a.pending ? b : a)).query(statement, timeoutMs),
    get pending() {
      return lanes.reduce((sum, lane) => sum + lane.pending, 0);
    },
    close() {
      for (const lane of lanes) lane.close();
    },
  };
};
