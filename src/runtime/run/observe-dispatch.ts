import type { Dispatch, RunOutcome } from '../../schema/dispatch.ts';
import type { RuntimeObserver } from '../deps.ts';

/** Counts and times the changes of a dispatch by a commit, successful or failed. */

const OPERATION = {
  Queued: 'nack',
  Claimed: 'claim',
  Acked: 'ack',
  Cancelled: 'cancel',
  Superseded: 'supersede',
  DeadLetter: 'dead_letter',
} as const satisfies Record<Dispatch['status'], string>;

/** Outcomes of dispatches that were never claimed. */
const UNTOUCHED: Partial<Record<Dispatch['status'], RunOutcome>> = {
  Cancelled: 'cancelled',
  Superseded: 'superseded',
  DeadLetter: 'dead_letter',
};

export const observeDispatch = (
  { mailbox, runs }: Pick<RuntimeObserver, 'mailbox' | 'runs'>,
  after: Dispatch,
  before: Dispatch | undefined,
  commit: { result: 'ok' | 'error'; seconds: number },
): void => {
  const { result, seconds } = commit;
  if (!before) mailbox.operation('enqueue', result, seconds);
  if (before ? before.status !== after.status : after.status !== 'Queued') {
    mailbox.operation(OPERATION[after.status], result, seconds);
  } else if (before && before.lease_until !== after.lease_until) {
    mailbox.operation('lease_renewal', result, seconds);
  }
  if (result === 'error') return;
  if (before?.status !== after.status) mailbox.moved(after.status, before?.status);
  // A dispatch that was claimed before has an execution, which reports its end.
  const isUntouched = before?.status === 'Queued' && before.run_status === undefined;
  const outcome = isUntouched ? UNTOUCHED[after.status] : undefined;
  if (outcome) runs.dismissed(outcome);
};
