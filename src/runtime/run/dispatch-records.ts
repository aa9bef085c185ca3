import { rememberingAdvance } from '../../../machines/advance.ts';
import { type DispatchEvent, dispatchMachine } from '../../../machines/dispatch.ts';
import type { Dispatch, DispatchStatus } from '../../schema/dispatch.ts';
import type { EVENT_KINDS } from '../../schema/event-kinds.ts';
import type { RuntimeDeps } from '../deps.ts';
import { logEvent, type Write } from '../ledger/transaction.ts';
import { claimedStatus } from './transitions.ts';

/** Creates and changes dispatch records (runtime.md 2.8, 10.4). Statuses come from the machine. */

export const newDispatch = (seed: {
  dispatch_id: string;
  thread_id: string;
  run_id: string;
  epoch: number;
  maxAttempts: number;
  at: number;
  priority?: number;
  dedupe_key?: string;
  /** Milliseconds; later than `at` when the work is delayed. */
  available_at?: number;
}): Dispatch => ({
  dispatch_id: seed.dispatch_id,
  thread_id: seed.thread_id,
  run_id: seed.run_id,
  priority: seed.priority ?? 128,
  dedupe_key: seed.dedupe_key ?? null,
  dispatch_epoch: seed.epoch,
  status: 'Queued',
  available_at: seed.available_at ?? seed.at,
  attempt_count: 0,
  max_attempts: seed.maxAttempts,
  last_error: null,
  claim_token: null,
  claimed_by: null,
  lease_until: null,
  created_at: seed.at,
  updated_at: seed.at,
});

const STATE_OF_STATUS = {
  Queued: 'queued',
  Claimed: 'claimed',
  Acked: 'acked',
  Cancelled: 'cancelled',
  Superseded: 'superseded',
  DeadLetter: 'deadLetter',
} as const satisfies Record<DispatchStatus, string>;

const STATUS_OF_STATE = {
  queued: 'Queued',
  claimed: 'Claimed',
  acked: 'Acked',
  cancelled: 'Cancelled',
  superseded: 'Superseded',
  deadLetter: 'DeadLetter',
} as const satisfies Record<string, DispatchStatus>;

const nextDispatch = rememberingAdvance(dispatchMachine);

const NO_LEASE = { claim_token: null, claimed_by: null, lease_until: null } as const;

/**
 * Returns the dispatch after an event, with the accompanying changes.
 *
 * @throws IllegalTransition
 */
export const advanceDispatch = (
  dispatch: Dispatch,
  event: DispatchEvent,
  changes: Partial<Dispatch> & { updated_at: number },
): Dispatch => {
  const context = {
    attemptCount: dispatch.attempt_count,
    maxAttempts: dispatch.max_attempts,
    epoch: 0,
  };
  const next = nextDispatch({ value: STATE_OF_STATUS[dispatch.status], context }, relative(event, dispatch));
  const status = STATUS_OF_STATE[next.value];
  const after = Object.assign({ ...dispatch }, changes, status !== 'Claimed' && NO_LEASE);
  after.status = status;
  after.attempt_count = next.context.attemptCount;
  return after;
};

/** Epochs are relative to that of the dispatch, so that few distinct transitions have to be cached. */
const relative = (event: DispatchEvent, dispatch: Dispatch): DispatchEvent =>
  'threadEpoch' in event
    ? { ...event, threadEpoch: event.threadEpoch > dispatch.dispatch_epoch ? 1 : 0 }
    : event;

/** The fields that a claim by this process writes. */
export const claimChanges = (
  { ids, worker, settings }: Pick<RuntimeDeps, 'ids' | 'worker' | 'settings'>,
  session_id: string,
  at: number,
) => ({
  claim_token: ids.uuid(),
  claimed_by: worker,
  lease_until: at + settings.mailbox.lease_ms,
  dispatch_instance_id: session_id,
  run_status: claimedStatus(),
  updated_at: at,
});

const SNAKE_STATUS = {
  Queued: 'queued',
  Claimed: 'claimed',
  Acked: 'acked',
  Cancelled: 'cancelled',
  Superseded: 'superseded',
  DeadLetter: 'dead_letter',
} as const satisfies Record<DispatchStatus, string>;

/** Logs an event about a dispatch (runtime.md 13.4); a run without a dispatch logs none. */
export const logDispatch = (
  write: Write,
  kind: keyof typeof EVENT_KINDS.dispatch,
  dispatch: Dispatch | undefined,
  more: Record<string, unknown> = {},
): void => {
  if (!dispatch) return;
  logEvent(
    write,
    kind,
    { ...dispatchFacts(dispatch), ...more },
    { run_id: dispatch.run_id, correlation_id: dispatch.dispatch_id },
  );
};

/** Returns the base payload of dispatch events (runtime.md 13.4). */
const dispatchFacts = (dispatch: Dispatch): Record<string, unknown> => ({
  thread_id: dispatch.thread_id,
  run_id: dispatch.run_id,
  dispatch_id: dispatch.dispatch_id,
  dispatch_epoch: dispatch.dispatch_epoch,
  attempt_count: dispatch.attempt_count,
  status: SNAKE_STATUS[dispatch.status],
  available_at: dispatch.available_at,
  created_at: dispatch.created_at,
  updated_at: dispatch.updated_at,
});

/** Returns the retry delay of a dispatch in ms (runtime.md 10.4 rule 5). */
export const retryDelay = (settings: RuntimeDeps['settings']['mailbox'], attempt: number): number =>
  Math.min(settings.retry_cap_ms, settings.retry_base_ms * 2 ** Math.min(Math.max(attempt - 1, 0), 6));
