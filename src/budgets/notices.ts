import { BUDGET_UNITS, type BudgetUnit } from '../schema/budget.ts';
import type { BudgetNotice } from '../schema/spending.ts';
import { type Amount, type Claim, fullestUnit, limitOf, reachedOf, spentOf, spentShare } from './counter.ts';

/** Events of budgets: each is reported once per counter and window. */

type Report = (notice: BudgetNotice) => void;

/** Reports the shares and limits that a settled inference has reached. */
export const noticeReached = (claim: Claim, report: Report): void => {
  const { budget, counter } = claim;
  const unit = fullestUnit(claim);
  const share = spentShare(claim, unit);
  for (const part of budget.spec.warn_at.slice(counter.warned)) {
    if (part > share) break;
    counter.warned += 1;
    report(noticeOf('BudgetWarning', claim, unit, part));
  }
  for (const each of BUDGET_UNITS) {
    const limit = limitOf(claim, each);
    if (limit !== undefined && spentOf(claim, each) >= limit) noticeExceeded(claim, each, report);
  }
};

export const noticeExceeded = (claim: Claim, unit: BudgetUnit, report: Report): void => {
  const { exceeded } = claim.counter;
  const limit = limitOf(claim, unit);
  if (limit === undefined || exceeded.get(unit) === limit) return;
  exceeded.set(unit, limit);
  report(noticeOf('BudgetExceeded', claim, unit, 1));
};

const noticeOf = (
  kind: BudgetNotice['kind'],
  claim: Claim,
  unit: BudgetUnit,
  share: number,
): BudgetNotice => ({
  kind,
  share,
  action: claim.budget.spec.on_exceeded,
  ...reachedOf(claim, unit),
});

/** Notes that a limit leaves no room, not even for `least`. */
export const noteFull = (claim: Claim, unit: BudgetUnit, least: Amount): void => {
  const limit = limitOf(claim, unit);
  const amount = unit === 'tokens' ? least.tokens : least.nano;
  if (limit !== undefined && spentOf(claim, unit) + amount > limit) claim.counter.full.set(unit, limit);
};

/** Returns the limit that leaves no room for an inference. */
export const exhaustedUnit = (claim: Claim): BudgetUnit | undefined =>
  BUDGET_UNITS.find((unit) => {
    const limit = limitOf(claim, unit);
    return limit !== undefined && (spentOf(claim, unit) >= limit || claim.counter.full.get(unit) === limit);
  });
