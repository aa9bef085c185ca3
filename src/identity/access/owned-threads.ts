import { NotFound } from '../../schema/outcome.ts';
import { partitionOf } from '../../schema/partition.ts';
import type { Store } from '../../store/index.ts';
import type { OwnedThreads } from '../users/users.ts';

/**
 * The threads that a user owns (identity.md 2.2). While a deleted user has some, its id cannot be taken again: the new
 * user would inherit them.
 *
 * @param removeThread stops the runs of a thread and removes it; throws `NotFound` for an unknown thread
 */
export const createOwnedThreads = (
  { threads }: { threads: Pick<Store['threads'], 'idsIn'> },
  removeThread: (scope: string, id: string) => Promise<void>,
): OwnedThreads => ({
  any: (scope, user) => threads.idsIn(partitionOf({ scope, user }), 1).length > 0,
  async remove(scope, user) {
    const partition = partitionOf({ scope, user });
    for (;;) {
      const ids = threads.idsIn(partition, MOST_AT_ONCE);
      if (ids.length === 0) return;
      await Promise.all(ids.map((id) => removeThread(partition, id).catch(ignoreRemoved)));
    }
  },
});

const MOST_AT_ONCE = 100;

const ignoreRemoved = (error: unknown): void => {
  if (!(error instanceof NotFound)) throw error;
};
