import type { Dispatch } from '../schema/dispatch.ts';
import type { RunOutcome, RuntimeObserver } from './deps.ts';

/** Counts what a commit did to a dispatch. */

const OPERATION = {
  Queued: 'nack',
  Claimed: 'claim',
  Acked: 'ack',
  Cancelled: 'cancel',
  Superseded: 'supersede',
  DeadLetter: 'dead_letter',
} as const satisfies Record<Dispatch['status'], string>;

/** What a dispatch came to that nobody claimed. */
const UNTOUCHED: Partial<Record<Dispatch['status'], RunOutcome>> = {
  Cancelled: 'cancelled',
  Superseded: 'superseded',
  DeadLetter: 'dead_letter',
};

export const observeDispatch = (
  { mailbox, runs }: Pick<RuntimeObserver, 'mailbox' | 'runs'>,
  after: Dispatch,
  before: Dispatch | undefined,
): void => {
  if (!before) mailbox.operation('enqueue', 'ok');
  if (before ? before.status !== after.status : after.status !== 'Queued') {
    mailbox.operation(OPERATION[after.status], 'ok');
  }
  const delta = Number(after.status === 'Queued') - Number(before?.status === 'Queued');
  if (delta !== 0) mailbox.queued(delta);
  // One that was claimed before has an execution, which tells how it ended.
  const isUntouched = before?.status === 'Queued' && before.run_status === undefined;
  const outcome = isUntouched ? UNTOUCHED[after.status] : undefined;
  if (outcome) runs.dismissed(outcome);
};
