import type { SnapshotFrom } from 'xstate';
import { advance, rememberingAdvance } from '../../machines/advance.ts';
import { type DispatchEvent, dispatchMachine } from '../../machines/dispatch.ts';
import { type RunMachineEvent, runMachine } from '../../machines/run.ts';
import { type Clock, type Ids, seconds } from '../schema/clock.ts';
import type { Dispatch, DispatchStatus } from '../schema/dispatch.ts';
import {
  type Activation,
  type Run,
  type RunAdapter,
  type RunMode,
  type RunOrigin,
  RunStatus,
} from '../schema/run.ts';
import type { RunIdentity } from '../schema/run-event.ts';
import type { MessageRange } from './ledger.ts';

/** How run and dispatch records come to be and change (runtime.md 2.4, 2.5, 2.8). Statuses come from the machines. */

/** The status on the wire is the tag of the machine's state. `released` has none: the record stays as it is. */
export const statusOf = (snapshot: SnapshotFrom<typeof runMachine>): RunStatus => {
  const status = RunStatus.options.find((tag) => snapshot.hasTag(tag));
  if (!status)
    throw new Error(`state '${JSON.stringify(snapshot.value)}' of the run machine writes no record`);
  return status;
};

const DORMANT_STATE = {
  created: 'created',
  running: { running: 'inferring' },
  waiting: { waiting: 'parked' },
} as const;

const DORMANT_CONTEXT = {
  host: {},
  entry: 'inference',
  attempt: 0,
  maxAttempts: 1,
  ending: undefined,
  steered: false,
} as const;

/** Where an event leads a run that no actor holds. @throws IllegalTransition */
export const advanceDormant = (status: keyof typeof DORMANT_STATE, event: RunMachineEvent) =>
  advance(runMachine, { value: DORMANT_STATE[status], context: DORMANT_CONTEXT }, event);

/** A claimed run is running from the commit of its claim on. */
export const CLAIMED: RunStatus = statusOf(advanceDormant('created', { type: 'CLAIM' }));

export type RunSeed = {
  run_id: string;
  thread_id: string;
  agent_id: string;
  resolution_id: string;
  origin: RunOrigin;
  adapter: RunAdapter;
  mode: RunMode;
  dispatch_id: string;
  session_id: string;
  /** milliseconds */
  at: number;
  input: { range: MessageRange | undefined; trigger_message_ids: string[] };
};

/** The record of a run whose dispatch is claimed in the same commit. */
export const newRun = (seed: RunSeed): Run => {
  const { thread_id, agent_id, resolution_id, dispatch_id, session_id } = seed;
  const at = seconds(seed.at);
  const input = {
    thread_id,
    ...(seed.input.range && { range: seed.input.range }),
    trigger_message_ids: seed.input.trigger_message_ids,
  };
  const activation: Activation = {
    intent: { agent_id, thread_id, kind: { kind: 'new_intent' } },
    input,
    options: {},
    trace: { origin: seed.origin, adapter: seed.adapter, run_mode: seed.mode, dispatch_id, session_id },
    resolution_id,
  };
  return {
    run_id: seed.run_id,
    thread_id,
    agent_id,
    parent_run_id: null,
    resolution_id,
    activation,
    input,
    status: CLAIMED,
    dispatch_id,
    session_id,
    created_at: at,
    started_at: at,
    updated_at: at,
    steps: 0,
    input_tokens: 0,
    output_tokens: 0,
    state: null,
  };
};

export const identityOf = (run: Run): RunIdentity => {
  const trace = run.activation?.trace;
  return {
    thread_id: run.thread_id,
    run_id: run.run_id,
    ...(run.parent_run_id !== null && { parent_run_id: run.parent_run_id }),
    agent_id: run.agent_id,
    ...(run.dispatch_id !== undefined && { dispatch_id: run.dispatch_id }),
    ...(run.session_id !== undefined && { session_id: run.session_id }),
    origin: trace?.origin ?? 'user',
    ...(trace && trace.run_mode !== 'foreground' && { run_mode: trace.run_mode }),
    ...(trace && trace.adapter !== 'internal' && { adapter: trace.adapter }),
  };
};

export const newDispatch = (seed: {
  dispatch_id: string;
  thread_id: string;
  run_id: string;
  epoch: number;
  maxAttempts: number;
  at: number;
}): Dispatch => ({
  dispatch_id: seed.dispatch_id,
  thread_id: seed.thread_id,
  run_id: seed.run_id,
  priority: 128,
  dedupe_key: null,
  dispatch_epoch: seed.epoch,
  status: 'Queued',
  available_at: seed.at,
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
 * The dispatch after an event, with the changes that go with it.
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
  return {
    ...dispatch,
    ...changes,
    ...(status !== 'Claimed' && NO_LEASE),
    status,
    attempt_count: next.context.attemptCount,
  };
};

/** Epochs count from the dispatch's own, so that the machine is asked few different questions. */
const relative = (event: DispatchEvent, dispatch: Dispatch): DispatchEvent =>
  'threadEpoch' in event
    ? { ...event, threadEpoch: event.threadEpoch > dispatch.dispatch_epoch ? 1 : 0 }
    : event;

export type Lease = { clock: Clock; ids: Ids; worker: string; lease_ms: number };

/** Claims a queued dispatch for this process. The result may be `Superseded`, when the thread has moved on. */
export const claim = (
  dispatch: Dispatch,
  threadEpoch: number,
  session_id: string,
  at: number,
  lease: Lease,
): Dispatch =>
  advanceDispatch(
    dispatch,
    { type: 'CLAIM', threadEpoch },
    {
      claim_token: lease.ids.uuid(),
      claimed_by: lease.worker,
      lease_until: at + lease.lease_ms,
      dispatch_instance_id: session_id,
      run_status: 'running',
      updated_at: at,
    },
  );

const SNAKE_STATUS = {
  Queued: 'queued',
  Claimed: 'claimed',
  Acked: 'acked',
  Cancelled: 'cancelled',
  Superseded: 'superseded',
  DeadLetter: 'dead_letter',
} as const satisfies Record<DispatchStatus, string>;

/** Base payload of the dispatch events (runtime.md 13.4). */
export const dispatchFacts = (dispatch: Dispatch): Record<string, unknown> => ({
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
