/**
 * Where the sessions of a pool are, as far as that cannot be computed. The oldest are forgotten first; a session
 * that is forgotten is sent home again.
 */

export type PoolSession = {
  /** Index of the member that the session is sent to. */
  member: number;
  /** Switches since the last success. */
  switches: number;
};

export type PoolSessions = {
  get(key: string): PoolSession | undefined;
  set(key: string, session: PoolSession): void;
  delete(key: string): void;
};

export const createPoolSessions = (most = 10_000): PoolSessions => {
  const sessions = new Map<string, PoolSession>();
  return {
    get(key) {
      const session = sessions.get(key);
      if (!session) return undefined;
      // A Map keeps the order of insertion: what is used again goes to the end.
      sessions.delete(key);
      sessions.set(key, session);
      return session;
    },
    set(key, session) {
      sessions.delete(key);
      const [oldest] = sessions.keys();
      if (oldest !== undefined && sessions.size >= most) sessions.delete(oldest);
      sessions.set(key, session);
    },
    delete: (key) => {
      sessions.delete(key);
    },
  };
};
