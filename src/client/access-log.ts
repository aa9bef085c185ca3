import type { AccessEvent, AccessKind, AccessPage } from '../schema/access-event.ts';
import { type Connection, call } from './connection.ts';
import { type Paged, paged } from './pages.ts';

/**
 * The events of the access log to list, and the size and start of the page. At most one of `user`, `credential` and
 * `ip`.
 *
 * @example
 * ```ts
 * const filter: AccessFilter = { user: 'alice', since: '2026-11-01T00:00:00Z' };
 * for await (const { ts, kind, reason } of client.accessLog.list(filter)) console.log(ts, kind, reason);
 * ```
 */
export type AccessFilter = {
  kind?: AccessKind;
  user?: string;
  /** Id of a credential. */
  credential?: string;
  ip?: string;
  of_scope?: string;
  /** RFC 3339. */
  since?: string;
  until?: string;
  limit?: number;
  cursor?: string;
};

/**
 * The log of sign-ins, decisions, refused requests and connected accounts (identity.md 7): `client.accessLog`. Requires
 * `observe`, or `manage` for the own scope.
 *
 * @example
 * ```ts
 * const { items } = await client.accessLog.list({ kind: 'denied', limit: 10 });
 * for (const { ts, ip, reason, count } of items) console.log(`${ts}: ${ip} ${reason} (${count})`);
 * ```
 */
export type AccessLog = {
  /** Lists events, newest first. */
  list(filter?: AccessFilter, options?: { signal?: AbortSignal }): Paged<AccessPage, AccessEvent>;
};

export const createAccessLog = (connection: Connection): AccessLog => ({
  list: ({ cursor, ...query } = {}, options) =>
    paged(
      (from) =>
        call<AccessPage>(connection, 'GET', '/v1/access-log', {
          signal: options?.signal,
          query: { ...query, cursor: from },
        }),
      ({ items }) => items,
      cursor,
    ),
});
