import type { DispatchStatus, RunOutcome } from '../../schema/dispatch.ts';
import { quick, runs } from './bounds.ts';
import { createDurations, createReading, type Families } from './families.ts';

/** Counts and times of dispatches. */

type MailboxResult = 'ok' | 'error' | 'empty' | 'lost' | 'dropped' | 'detected';

const dispatchStatuses = [
  ['Queued', 'queued'],
  ['Claimed', 'claimed'],
  ['Acked', 'acked'],
  ['Cancelled', 'cancelled'],
  ['Superseded', 'superseded'],
  ['DeadLetter', 'dead_letter'],
] as const satisfies readonly (readonly [DispatchStatus, string])[];

export const createMailboxMetrics = (families: Families) => {
  const depth = { Queued: 0, Claimed: 0, Acked: 0, Cancelled: 0, Superseded: 0, DeadLetter: 0 };
  createReading(families, [], { suffix: 'mailbox_queue_depth', help: 'Queued dispatches' }, () => [
    [depth.Queued],
  ]);
  createReading(
    families,
    ['status'],
    {
      suffix: 'mailbox_dispatch_depth',
      help: 'Dispatches by status: open ones, and ones that ended since the start',
    },
    () => dispatchStatuses.map(([status, name]) => [depth[status], name]),
  );
  const operations = createDurations(
    families,
    ['operation', 'result'],
    {
      suffix: 'mailbox_operation_duration_seconds',
      help: 'Time until an operation on a dispatch was durable',
      bounds: quick,
    },
    { suffix: 'mailbox_operations_total', help: 'Operations on dispatches' },
  );
  const dispatchTime = <const N extends readonly [] | readonly [string]>(
    part: string,
    labels: N,
    help: string,
  ) => createDurations(families, labels, { suffix: `mailbox_dispatch_${part}_seconds`, help, bounds: runs });
  const enqueueToStart = dispatchTime('enqueue_to_start', [], 'Accepted until started');
  const eligibleToStart = dispatchTime('eligible_to_start', [], 'Allowed to start until started');
  const claimToStart = dispatchTime('claim_to_start', [], 'Claimed until started');
  const enqueueToComplete = dispatchTime('enqueue_to_complete', ['outcome'], 'Accepted until finished');
  const runtime = dispatchTime('runtime', ['outcome'], 'Started until finished');
  return {
    moved(to: DispatchStatus, from: DispatchStatus | undefined) {
      depth[to] += 1;
      if (from) depth[from] -= 1;
    },
    /** The open dispatches belong to a store that was closed. */
    closed() {
      depth.Queued = 0;
      depth.Claimed = 0;
    },
    /** `seconds` is the total time of all `times` operations. */
    operation(operation: string, result: MailboxResult, seconds: number, times = 1) {
      operations.observe(seconds, operation, result);
      for (let more = 1; more < times; more += 1) operations.count(operation, result);
    },
    started(seconds: { enqueueToStart: number; eligibleToStart: number; claimToStart: number }) {
      enqueueToStart.observe(seconds.enqueueToStart);
      eligibleToStart.observe(seconds.eligibleToStart);
      claimToStart.observe(seconds.claimToStart);
    },
    completed(outcome: RunOutcome, seconds: { enqueueToComplete: number; runtime: number }) {
      enqueueToComplete.observe(seconds.enqueueToComplete, outcome);
      runtime.observe(seconds.runtime, outcome);
    },
  };
};
