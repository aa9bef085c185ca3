import { NotFound } from '../../schema/outcome.ts';
import { partitionOf } from '../../schema/partition.ts';
import type { Store } from '../../store/index.ts';
import type { OwnedThreads } from '../users/users.ts';

/**
 * The threads and uploaded files that a user owns (identity.md 2.2). While a deleted user has some, its id cannot be taken
 * again: the new user would inherit them. Files stay with the threads, whose messages refer to them.
 *
 * @param removeThread stops the runs of a thread and removes it; throws `NotFound` for an unknown thread
 */
export const createOwnedThreads = (
  store: Pick<Store, 'batch' | 'commit'> & {
    threads: Pick<Store['threads'], 'idsIn'>;
    files: Pick<Store['files'], 'list' | 'remove'>;
  },
  removeThread: (scope: string, id: string) => Promise<void>,
): OwnedThreads => {
  const { threads, files } = store;
  const filesIn = (lists: string, limit: number) => files.list({ lists, ascending: true, limit });
  return {
    any(scope, user) {
      const partition = partitionOf({ scope, user });
      return threads.idsIn(partition, 1).length > 0 || filesIn(partition, 1).length > 0;
    },
    async remove(scope, user) {
      const partition = partitionOf({ scope, user });
      for (;;) {
        const ids = threads.idsIn(partition, MOST_AT_ONCE);
        if (ids.length === 0) break;
        await Promise.all(ids.map((id) => removeThread(partition, id).catch(ignoreRemoved)));
      }
      // Last, because tools of the runs wrote files until then.
      for (;;) {
        const rows = filesIn(partition, MOST_AT_ONCE);
        if (rows.length === 0) break;
        const batch = store.batch('commons');
        for (const row of rows) files.remove(batch, row);
        await store.commit(batch);
      }
    },
  };
};

const MOST_AT_ONCE = 100;

const ignoreRemoved = (error: unknown): void => {
  if (!(error instanceof NotFound)) throw error;
};
