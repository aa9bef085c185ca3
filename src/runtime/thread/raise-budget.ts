import type { Run } from '../../schema/run.ts';
import type { Write } from '../ledger/transaction.ts';
import { subjectOfRun } from '../run/payer.ts';
import type { Thread } from './state.ts';
import type { Decided } from './tickets.ts';

/** Adds the amount of a decision to the budget that its run waits for, in the commit of the decision (identity.md 5.4). */
export function raiseBudget(
  { deps, scope }: Pick<Thread, 'deps' | 'scope'>,
  { batch }: Pick<Write, 'batch'>,
  run: Run,
  { raises }: Pick<Decided, 'raises'>,
): void {
  if (raises) deps.meter?.raise(batch, { ...raises, subject: subjectOfRun(deps, scope, run) });
}
