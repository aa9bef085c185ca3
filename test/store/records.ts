import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import type { Message } from '../../src/schema/message.ts';
import type { Run } from '../../src/schema/run.ts';
import type { RunRecord } from '../../src/schema/run-state.ts';
import type { Thread } from '../../src/schema/thread.ts';
import type { Batch, Store, ThreadRecord } from '../../src/store/index.ts';
import { stateInRecord } from '../../src/store/repair/old-run-states.ts';

/** Minimal valid records, with the fields that a test sets. */

export const SCOPE = 'default';

export const threadRecord = (id: string, updated_at: number, links: Partial<Thread> = {}): ThreadRecord => ({
  thread: { id, metadata: { created_at: 1, updated_at }, ...links },
  epoch: 0,
});

export const run = (run_id: string, fields: Partial<RunRecord> = {}): RunRecord =>
  withMachineState({
    run_id,
    thread_id: 't1',
    agent_id: 'default',
    parent_run_id: null,
    status: 'running',
    created_at: 1765000400,
    updated_at: 1765000400,
    steps: 0,
    input_tokens: 0,
    output_tokens: 0,
    state: null,
    ...fields,
  });

/** Adds the state that the other fields describe. */
export const withMachineState = (record: Run & Partial<RunRecord>): RunRecord => ({
  ...record,
  machine_state: record.machine_state ?? stateInRecord(record),
});

export const dispatch = (dispatch_id: string, fields: Partial<Dispatch> = {}): Dispatch => ({
  dispatch_id,
  thread_id: 't1',
  run_id: 'r1',
  priority: 128,
  dedupe_key: null,
  dispatch_epoch: 0,
  status: 'Queued',
  available_at: 1765000400000,
  attempt_count: 0,
  max_attempts: 5,
  last_error: null,
  claim_token: null,
  claimed_by: null,
  lease_until: null,
  created_at: 1765000400000,
  updated_at: 1765000400000,
  ...fields,
});

export const message = (id: string, run_id?: string, visibility?: 'internal'): Message => ({
  id,
  role: 'assistant',
  content: [{ type: 'text', text: `text of ${id}` }],
  ...(visibility && { visibility }),
  ...(run_id !== undefined && { metadata: { run_id } }),
});

export const event = (event_id: string, run_id?: string): LoggedEvent => ({
  event_id,
  event_kind: 'RunStarted',
  payload: { event_id },
  thread_id: 't1',
  ...(run_id !== undefined && { run_id }),
  origin: 'mailbox',
  visibility: 'public',
  created_at: 1765000456013,
});

/** Commits one batch. */
export const write = async (store: Store, fill: (batch: Batch) => void): Promise<void> => {
  const batch = store.batch('commons');
  fill(batch);
  await store.commit(batch);
};

/** Enough messages for several slices of a removal. */
export const LONG_ROWS = 3500;

/** Appends this many messages of one run to an empty history. */
export const fillLong = (store: Store, thread_id: string, count: number): Promise<void> =>
  write(store, (batch) =>
    store.messages.append(
      batch,
      SCOPE,
      thread_id,
      Array.from({ length: count }, (_, index) => ({
        seq: index + 1,
        message: message(`m${index + 1}`, 'r1'),
        created_at: 1,
        external: index + 1,
      })),
    ),
  );
