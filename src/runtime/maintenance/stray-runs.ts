import type { Clock, Ids } from '../../schema/clock.ts';
import type { Dispatch } from '../../schema/dispatch.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { RunningRun, Store } from '../../store/index.ts';
import { commit } from '../ledger/commit.ts';
import { createLedger, type LedgerDeps, UNFOLLOWED } from '../ledger/ledger.ts';
import { targetedAt } from '../ledger/pending.ts';
import { deliver, openWrite, type Write } from '../ledger/transaction.ts';
import type { CaptureMode } from '../run/capture.ts';
import { endDormant } from '../run/end-inactive.ts';

/**
 * Ends runs whose record is `running` although no open dispatch would end them (runtime.md 17). No commit of this
 * version leaves one behind; commits of earlier versions did, and so does a process that ends while a tool call drives
 * a run. Recovery finds them in the list of running runs, `troupe doctor` by reading every row.
 */

type Dispatches = { get(scope: string, dispatch_id: string): Dispatch | undefined };

/** Ends the run according to its dispatch, with its terminal event, in the write of the caller. */
export const endStray = (write: Write, run: RunRecord, dispatches: Dispatches, mode: CaptureMode): void => {
  const { ledger } = write;
  const dispatch = run.dispatch_id === undefined ? undefined : dispatches.get(ledger.scope, run.dispatch_id);
  // Accepted input joins the history before its run ends (runtime.md 9.3).
  deliver(write, targetedAt(ledger.pending, run.run_id), run.run_id);
  const reason = dispatch?.last_error ?? 'its dispatch failed permanently';
  const event = dispatch?.status === 'DeadLetter' ? ({ type: 'DEAD_LETTER', reason } as const) : CANCEL;
  endDormant(write, run, event, mode);
};

const CANCEL = { type: 'CANCEL' } as const;

/**
 * Ends every stray run of a store that no runtime has open. Runs that a tool call drove are left to the next start,
 * which ends them together with the call. Returns the number of ended runs.
 */
export const endStrays = async (
  store: Store,
  { clock, ids, mode }: { clock: Clock; ids: Ids; mode: CaptureMode },
): Promise<number> => {
  let ended = 0;
  for (const { scope, run_id } of eachRunning(store)) {
    const run = store.runs.get(scope, run_id);
    if (!run || !hasTag(run, 'running') || run.dispatch_id === undefined) continue;
    const open = store.dispatches.openOf(scope, run.thread_id);
    if (open.some((dispatch) => dispatch.run_id === run_id)) continue;
    const write = openWrite(
      createLedger(withoutListeners({ store, clock, ids }), scope, run.thread_id),
      clock.now(),
    );
    endStray(write, run, store.dispatches, mode);
    await commit(write, 'input');
    ended += 1;
  }
  return ended;
};

function* eachRunning({ runs }: Pick<Store, 'runs'>): Iterable<RunningRun> {
  let after: RunningRun | undefined;
  do {
    const page = runs.running(after, PAGE);
    yield* page;
    after = page.at(-1);
  } while (after !== undefined);
}

const PAGE = 256;

const nothing = (): void => {};

/** Dependencies of a ledger whose commits are not followed. */
const withoutListeners = (deps: Pick<LedgerDeps, 'store' | 'clock' | 'ids'>): LedgerDeps => ({
  ...deps,
  events: { appended: nothing },
  runs: undefined,
  traces: undefined,
  legs: undefined,
  observe: {
    mailbox: { moved: nothing, operation: nothing, started: nothing, completed: nothing },
    runs: { executing: nothing, ended: nothing, dismissed: nothing, sessionEnded: nothing },
  },
  ...UNFOLLOWED,
});
