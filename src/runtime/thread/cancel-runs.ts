import { ownedIn, partitionOf } from '../../schema/partition.ts';
import type { Run } from '../../schema/run.ts';
import { ownTurn } from '../../schema/turns.ts';
import type { Position, Store } from '../../store/index.ts';
import { cancelInThread } from './requests.ts';
import type { Supervisor } from './supervisor.ts';

/**
 * Cancels the open runs of a scope that match, whatever they do: execute, wait or are queued.
 *
 * Reads the lists of open runs only, so the cost follows the open runs of the scope and not the stored ones. A run can
 * change its status during a search, so the search is repeated until it finds no other run.
 */
type Places = { store: Pick<Store, 'runs'>; supervisor: Pick<Supervisor, 'outside'> };

type Found = { scope: string; thread_id: string; run_id: string };

export const cancelMatching = async (
  { store, supervisor }: Places,
  scope: string,
  matches: (run: Run) => boolean,
): Promise<void> => {
  const cancelled = new Set<string>();
  for (;;) {
    const found = await openRuns(store, scope, (run) => !cancelled.has(run.run_id) && matches(run));
    if (found.length === 0) return;
    for (const { scope: partition, thread_id, run_id } of found) {
      cancelled.add(run_id);
      await supervisor.outside.use(partition, thread_id, (thread) => cancelInThread(thread, run_id));
    }
  }
};

/** Statuses in the order in which a run takes them. */
const OPEN = ['created', 'running', 'waiting'] as const;

/** Records that are read in one tick of the event loop. */
const READ_AT_ONCE = 200;

const openRuns = async (
  { runs }: Places['store'],
  scope: string,
  matches: (run: Run) => boolean,
): Promise<Found[]> => {
  const found: Found[] = [];
  for (const status of OPEN) {
    let after: Position | undefined;
    do {
      const page = runs.list(
        [scope, ownedIn(scope)],
        { status },
        { limit: READ_AT_ONCE, offset: 0, ...(after && { after }) },
        () => null,
      );
      for (const run of page.items) {
        const { thread_id, run_id, owner } = run;
        if (matches(run)) found.push({ scope: partitionOf({ scope, user: owner }), thread_id, run_id });
      }
      after = page.next;
      if (after) await ownTurn();
    } while (after);
  }
  return found;
};
