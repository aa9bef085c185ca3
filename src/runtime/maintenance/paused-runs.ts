import { BUDGET_EXCEEDED, ReachedLimit } from '../../schema/budget.ts';
import type { RuntimeDeps } from '../deps.ts';
import { subjectOfRun } from '../run/payer.ts';
import type { EndOfWait } from './resumed-waits.ts';

/** The end of waits for budgets (identity.md 5.4): the limit was raised, or no longer applies. */
export const whenRaised =
  (deps: Pick<RuntimeDeps, 'meter' | 'resolve'>): EndOfWait =>
  (scope, run, { reason, arguments: shown }) => {
    const wait = reason === BUDGET_EXCEEDED ? ReachedLimit.safeParse(shown).data : undefined;
    if (!wait || deps.meter?.isOver(wait, subjectOfRun(deps, scope, run)) === false) return undefined;
    return { decided_by: 'budget', reason: `budget '${wait.budget}' was raised or has changed` };
  };
