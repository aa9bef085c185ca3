import { createMeter, type Meter } from '../budgets/meter.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics/metrics.ts';
import type { Clock } from '../schema/clock.ts';
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
    onCommitFailed: (err) => log.error('budget.commit_failed', { err }),
  });
};
