import type { ServiceLog } from '../schema/log-events.ts';
import type { Connection, ConnectionRows } from './rows.ts';

/**
 * Stores renewed connections, and keeps those whose commit failed: a server that rotates refresh tokens has ended the
 * stored one, so without the new one the user would have to connect again (identity.md 6.3).
 *
 * Guarantees: a renewed connection is returned only after its commit. One that the store does not accept is stored
 * with the next use of the connection, or when the service stops.
 * Relies on: the caller executes the writes of one connection one at a time.
 */
export type Renewed = {
  /** @throws when the store does not accept it */
  put(before: Connection, after: Connection): Promise<void>;
  /** Stores what a failed commit left for this connection, and returns it. @throws like `put` */
  resume(found: Connection): Promise<Connection | undefined>;
  /** Stores what failed commits have left. */
  flush(): Promise<void>;
};

type Kept = { before: Connection; after: Connection };

/** Beyond it, the connection that was kept first is dropped. */
export const MOST_KEPT = 1000;

export const createRenewed = (rows: Pick<ConnectionRows, 'put'>, log: Pick<ServiceLog, 'error'>): Renewed => {
  const kept = new Map<string, Kept>();

  const write = async (key: string, { before, after }: Kept): Promise<void> => {
    try {
      await rows.put(after);
      kept.delete(key);
    } catch (err) {
      log.error('connection.not_stored', { err, server: after.server });
      kept.set(key, { before, after });
      const [oldest] = kept.keys();
      if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      throw err;
    }
  };

  return {
    put: (before, after) => write(keyOf(before), { before, after }),
    async resume(found) {
      const key = keyOf(found);
      const left = kept.get(key);
      if (!left) return undefined;
      // The user has connected again: the stored connection is newer.
      if (!isSame(left.before, found)) {
        kept.delete(key);
        return undefined;
      }
      await write(key, left);
      return left.after;
    },
    async flush() {
      await Promise.allSettled([...kept].map(([key, left]) => write(key, left)));
    },
  };
};

const keyOf = ({ scope, user, server }: Connection): string => JSON.stringify([scope, user, server]);

const isSame = (one: Connection, other: Connection): boolean =>
  one.refresh_token === other.refresh_token &&
  one.connected_at === other.connected_at &&
  one.issuer === other.issuer;
