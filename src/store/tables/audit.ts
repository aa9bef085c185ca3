import { type AuditEvent, isUlid } from '../../schema/audit-event.ts';
import { Invalid } from '../../schema/outcome.ts';
import { fillPage } from '../../schema/page-rows.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId } from '../engine/keys.ts';
import { createSealedTable, type SealOlder } from '../engine/sealed-table.ts';
import type { Cipher } from '../engine/secrets-cipher.ts';
import { type AuditFilter, indexKeys, matchingIds } from './audit-index.ts';
import { firstIdAt, idsBetween } from './id-lists.ts';

/**
 * The audit log, by the ids of its events. An id begins with its time, so a span of time is a span of keys.
 *
 * Payloads and error texts are sealed; the fields used by filters are not.
 * Cost: one seek and one read per event on a page, regardless of filters and length of the log; `audit-index.ts` states
 * the cost of writing an event.
 */

export type AuditQuery = AuditFilter & {
  /** Milliseconds; `since` is inclusive, `until` is exclusive. */
  since?: number;
  until?: number;
  limit: number;
  /** Only events with a smaller id. */
  before?: string;
};

export type AuditTable = {
  put(batch: Batch, event: AuditEvent): void;
  get(id: string): AuditEvent | undefined;
  /**
   * Newest first. `next` is set unless the page is the last one, and is the `before` of the next page.
   *
   * @throws Invalid when `before` is not an id
   */
  page(query: AuditQuery): { items: AuditEvent[]; texts: string[]; next?: string };
  /** Removes events older than this, oldest first and at most `max`; returns their number. */
  prune(batch: Batch, olderThanMs: number, max: number): number;
};

type Body = Pick<AuditEvent, 'before' | 'after' | 'overrides' | 'error'>;
type Head = Omit<AuditEvent, keyof Body>;

export const createAuditTable = (
  env: Environment,
  cipher: Cipher,
): { table: AuditTable; sealOlder: SealOlder } => {
  const events = createSealedTable<Head, Body>(env, 'audit', cipher);
  const index = env.table<true>('audit_index');

  const get = (id: string): AuditEvent | undefined => (isUlid(id) ? events.get([id]) : undefined);

  const table: AuditTable = {
    get,
    put(batch, { before, after, overrides, error, ...head }) {
      if (!isUlid(head.id)) throw new Invalid(`audit event id '${head.id}' is not a ULID`);
      checkId('actor', head.actor);
      events.put(batch, [head.id], head, { before, after, overrides, error });
      for (const key of indexKeys(head)) index.put(batch, key, true);
    },
    page({ since, until, limit, before, ...filter }) {
      if (before !== undefined && !isUlid(before)) throw new Invalid('invalid cursor');
      const ids = matchingIds(index, filter, idsBetween(since, until, before));
      const { rows: items, texts, more } = fillPage(eventsOf(ids, get), limit);
      const last = items.at(-1);
      return { items, texts, ...(more && last && { next: last.id }) };
    },
    prune(batch, olderThanMs, max) {
      let removed = 0;
      for (const { key, head } of events.heads({ prefix: [], to: [firstIdAt(olderThanMs)], limit: max })) {
        for (const listed of indexKeys(head)) index.remove(batch, listed);
        events.remove(batch, key);
        removed += 1;
      }
      return removed;
    },
  };
  return { table, sealOlder: events.sealOlder };
};

function* eventsOf(ids: Iterable<string>, get: (id: string) => AuditEvent | undefined): Iterable<AuditEvent> {
  for (const id of ids) {
    const event = get(id);
    if (event) yield event;
  }
}
