import type { AuditDraft, AuditEvent, Caller } from '../schema/audit-event.ts';
import type { Accept } from '../schema/idempotency.ts';
import { createLock } from '../schema/lock.ts';
import type { Principal } from '../schema/principal.ts';
import type { Batch, Store } from '../store/index.ts';

/**
 * Changes of users and credentials, one at a time, each in one commit with its audit events.
 *
 * Guarantees: what a request may do is derived from the stored rows of one `revision`. Every change that can alter it
 * increases the revision once it is visible, and before the change is confirmed, so whatever was remembered before is
 * derived again at the next request.
 */
export type Changes = {
  readonly revision: number;
  /** @throws what `work` throws; nothing is stored then */
  write<Result>(by: By, work: (change: Change) => Result, keyed?: Accept<Result>): Promise<Result>;
  /** Calls the listener after each change. It must not throw. */
  onChange(listener: (of: Affected) => void): () => void;
};

/** The principal of a request, and the same in the form of the audit log. */
export type By = { principal: Principal; caller: Caller };

/** The user that is affected by a change, or one of its keys. */
export type Affected = { scope: string; user: string; key?: string };

export type Change = {
  readonly batch: Batch;
  audit(draft: AuditDraft): void;
  affects(affected: Affected): void;
};

/** The part of the audit log that is used here. */
export type AuditPort = {
  put(batch: Batch, drafts: readonly AuditDraft[], caller: Caller): AuditEvent[];
  written(events: readonly AuditEvent[]): void;
};

export const createChanges = (
  store: Pick<Store, 'batch' | 'commit' | 'idempotency'>,
  audit: AuditPort,
): Changes => {
  const lock = createLock();
  const listeners = new Set<(of: Affected) => void>();
  let revision = 0;

  return {
    get revision() {
      return revision;
    },
    write: ({ caller }, work, keyed) =>
      lock(async () => {
        const batch = store.batch('commons');
        const drafts: AuditDraft[] = [];
        const affected: Affected[] = [];
        const result = work({
          batch,
          audit: (draft) => drafts.push(draft),
          affects: (of) => affected.push(of),
        });
        if (keyed) store.idempotency.put(batch, keyed(result));
        const events = audit.put(batch, drafts, caller);
        try {
          if (batch.writes.length > 0) await store.commit(batch, 'input');
        } finally {
          // A failed flush may leave a change that is visible.
          revision += affected.length;
          for (const of of affected) for (const listener of listeners) listener(of);
        }
        audit.written(events);
        return result;
      }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
