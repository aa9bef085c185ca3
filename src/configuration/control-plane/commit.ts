import type { AuditDraft } from '../../schema/audit-event.ts';
import type { Clock, Ids } from '../../schema/clock.ts';
import type { Acceptance } from '../../schema/idempotency.ts';
import { Unavailable } from '../../schema/outcome.ts';
import type { Publication } from '../../schema/publication.ts';
import type { Batch, Store } from '../../store/index.ts';
import type { Caller } from './api.ts';
import type { AuditLog } from './audit-log.ts';
import { SCOPE, type Versioned } from './publication.ts';
import type { Change } from './stored.ts';

/** Commits the records, publication and audit events of a change atomically. */

export type CommitDeps = { store: Store; audit: AuditLog; clock: Clock; ids: Ids };

export type Commit = {
  changes: readonly Change[];
  events: readonly AuditDraft[];
  caller: Caller;
  /** The key of the request that makes the change. */
  keyed?: Acceptance | undefined;
  /** Adds rows to the commit. */
  also?: ((batch: Batch) => void) | undefined;
  publication?:
    | (Pick<Publication, 'snapshot_version' | 'source_config_revisions' | 'metadata'> &
        Pick<Versioned, 'entries' | 'added' | 'released'>)
    | undefined;
};

export const createCommit =
  ({ store, audit, clock, ids }: CommitDeps) =>
  /**
   * @param onVisible called in the event-loop tick in which the commit is visible to readers of the store
   * @throws Unavailable `storage error: <detail>`
   */
  async (
    { changes, events, caller, publication, keyed, also }: Commit,
    onVisible: () => void,
  ): Promise<void> => {
    const batch = store.batch('commons');
    putRecords(store, batch, changes);
    if (publication) {
      const { entries, added, released, ...rest } = publication;
      const about = { publication_id: ids.uuid(), scope_id: SCOPE, created_by: caller.actor };
      store.publications.put(
        batch,
        { ...about, entries, created_at_ms: clock.now(), ...rest },
        added,
        released,
      );
    }
    if (keyed) store.idempotency.put(batch, keyed);
    also?.(batch);
    const put = audit.put(batch, events, caller);
    try {
      await store.commit(batch, 'input');
    } catch (cause) {
      // A failed flush may leave writes that are visible to readers.
      if (batch.writes.length > 0 && isVisible(store, { changes, publication })) onVisible();
      throw new Unavailable(`storage error: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
    audit.written(put);
    onVisible();
  };

const putRecords = ({ config }: Store, batch: Batch, changes: readonly Change[]): void => {
  for (const { namespace, id, record } of changes) {
    if (record) config.put(batch, record);
    else config.remove(batch, namespace, id);
  }
};

const isVisible = (
  { config, publications }: Store,
  { changes, publication }: Pick<Commit, 'changes' | 'publication'>,
): boolean =>
  publication
    ? publications.get(SCOPE, publication.snapshot_version) !== undefined
    : changes.every(({ namespace, id, record }) => config.get(namespace, id)?.revision === record?.revision);
