import { createMeter, type Meter } from '../budgets/meter.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics/metrics.ts';
import type { Runtime } from '../runtime/index.ts';
import { BUDGET_EXCEEDED } from '../schema/budget.ts';
import type { Clock } from '../schema/clock.ts';
import type { Run } from '../schema/run.ts';
import { timerMs } from '../schema/timer.ts';
import type { Store } from '../store/index.ts';

/** Binds the budgets to the log, the metrics and the timers of the process. */
export const createBudgetMeter = (deps: {
  store: Store;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}): Meter => {
  const { store, clock, log, metrics } = deps;
  return createMeter({
    store,
    clock,
    timer: {
      now: () => clock.now(),
      after(ms, callback) {
        const timer = setTimeout(callback, timerMs(ms));
        return () => clearTimeout(timer);
      },
    },
    observe({ kind, ...notice }) {
      log.warn(kind === 'BudgetWarning' ? 'budget.warning' : 'budget.exceeded', notice);
      if (kind === 'BudgetExceeded') metrics.budgets.exceeded(notice.budget, notice.action);
    },
    limited: metrics.budgets.limited,
    raised: (budget, { extra, run_only }) => log.info('budget.raised', { budget, ...extra, run_only }),
    onCommitFailed: (err) => log.error('budget.commit_failed', { err }),
  });
};

/**
 * Resumes runs that wait for budgets, once these were raised or have changed.
 *
 * Guarantees: a run is resumed also if its budget changes while its wait is being stored: either the wait is stored
 * before the waiting runs are searched, or its record is reported afterwards and finds the budget changed.
 */
export type PausedRuns = {
  /** A record of a run has become durable. */
  stored(scope: string, run: Run): void;
  /** Finds the runs whose budgets have changed while no process was running. */
  recover(): void;
};

export const createPausedRuns = (
  { meter, log }: { meter: Pick<Meter, 'onLoosened'>; log: Log },
  runtime: () => Pick<Runtime, 'resumePaused' | 'resumeIfRaised'>,
): PausedRuns => {
  const report = (err: unknown): void => log.error('budget.resume_failed', { err });
  let isSearching = false;
  let isDue = false;
  /** Changes during a search lead to one further search. */
  const search = async (): Promise<void> => {
    isDue = true;
    if (isSearching) return;
    isSearching = true;
    try {
      while (isDue) {
        isDue = false;
        await runtime().resumePaused();
      }
    } finally {
      isSearching = false;
    }
  };
  meter.onLoosened(() => {
    // In another event-loop tick: the decision that raises a budget is being processed.
    setImmediate(() => search().catch(report));
  });
  return {
    stored(scope, run) {
      if (!run.waiting?.tickets?.some(({ reason }) => reason === BUDGET_EXCEEDED)) return;
      runtime().resumeIfRaised(scope, run).catch(report);
    },
    recover() {
      search().catch(report);
    },
  };
};
