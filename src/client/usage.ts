import type { UsageItem, UsageList, UsageProperty } from '../schema/usage.ts';
import { type Connection, call } from './connection.ts';
import { type Paged, paged } from './pages.ts';

/**
 * Selects usage, and the properties that divide it. `since` and `until` are UTC days, such as `2026-11-01`, both
 * inclusive.
 *
 * @example
 * ```ts
 * const november: UsageQuery = { by: ['agent'], since: '2026-11-01', until: '2026-11-30' };
 * const { items } = await client.usage.list(november);
 * ```
 */
export type UsageQuery = {
  by?: readonly UsageProperty[];
  since?: string;
  until?: string;
  of_scope?: string;
  limit?: number;
  cursor?: string;
};

/**
 * The usage of runs (identity.md 5.5): `client.usage`. A user reads its own usage; `read:all` reads that of the scope.
 *
 * @example
 * ```ts
 * for await (const { user, day, usd } of client.usage.list({ by: ['user', 'day'], since: '2026-11-01' })) {
 *   console.log(day, user, usd);
 * }
 * ```
 */
export type Usage = {
  /** Without `by`, one item with the sums. @throws InvalidRequest, Forbidden */
  list(query?: UsageQuery, options?: { signal?: AbortSignal }): Paged<UsageList, UsageItem>;
};

export const createUsage = (connection: Connection): Usage => ({
  list: ({ cursor, by, ...query } = {}, options) =>
    paged(
      (from) =>
        call<UsageList>(connection, 'GET', '/v1/usage', {
          signal: options?.signal,
          query: { ...query, ...(by && { by: by.join(',') }), cursor: from },
        }),
      ({ items }) => items,
      cursor,
    ),
});
