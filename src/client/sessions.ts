import type { SessionList } from '../schema/session.ts';
import { type Connection, call, path } from './connection.ts';

type Options = { signal?: AbortSignal };

/**
 * Sessions, with which browsers are signed in (identity.md 2.5): `client.sessions`. A user lists and ends its own
 * sessions; those of other users need `manage`.
 *
 * Sessions begin in browsers: with the sign-in of an identity provider, or with `POST /v1/session`, which returns a
 * cookie.
 *
 * @example
 * ```ts
 * const { items } = await client.sessions.list({ user: 'alice' });
 * for (const { id, last_used_at } of items) {
 *   if (last_used_at < Date.now() - 3_600_000) await client.sessions.end(id);
 * }
 * ```
 */
export type Sessions = {
  /**
   * Lists the sessions of a user, by default of the caller: at most 100, without ended ones.
   *
   * @param of other users need `manage`, other scopes `admin`
   */
  list(of?: { user?: string; of_scope?: string }, options?: Options): Promise<SessionList>;
  /** Ends a session and its event streams. @throws NotFound */
  end(id: string, options?: Options): Promise<void>;
  /** Ends the session that this client sends. @throws InvalidRequest if it sends another credential */
  signOut(options?: Options): Promise<void>;
};

export const createSessions = (connection: Connection): Sessions => ({
  list: (query = {}, options) => call(connection, 'GET', '/v1/sessions', { ...options, query }),
  end: (id, options) => call(connection, 'DELETE', path`/v1/sessions/${id}`, options),
  signOut: (options) => call(connection, 'DELETE', '/v1/session', options),
});
