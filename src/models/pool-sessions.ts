/**
 * The members of a pool's sessions, where they cannot be computed. The oldest sessions are evicted first; an evicted
 * session returns to its home.
 */

export type PoolSession = {
  /** Index of the member that serves the session. */
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
      // A Map keeps insertion order, so an entry that is used again moves to the end.
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
