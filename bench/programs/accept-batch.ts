import { uuidv7 as uuid } from 'uuidv7';
import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import type { Message } from '../../src/schema/message.ts';
import { inState, type RunRecord } from '../../src/schema/run-state.ts';
import type { Batch, Store } from '../../src/store/index.ts';

/** The records that the service commits when it accepts a run on a new thread: one of each kind, and six events. */

export type AcceptRows = {
  thread_id: string;
  message: Message;
  run: RunRecord;
  dispatch: Dispatch;
  events: LoggedEvent[];
};

const KINDS = [
  'ThreadCreated',
  'MessageCommitted',
  'ThreadMessagesCheckpointed',
  'RunQueued',
  'RunSubmitted',
  'RunStarted',
];

export const acceptRows = (): AcceptRows => {
  const [thread_id, run_id, dispatch_id, session_id] = [uuid(), uuid(), uuid(), uuid()];
  const at = Date.now();
  const seconds = Math.floor(at / 1000);
  const facts = {
    thread_id,
    run_id,
    dispatch_id,
    session_id,
    agent_id: 'bench',
    origin: 'user',
    priority: 128,
  };
  return {
    thread_id,
    message: {
      id: uuid(),
      role: 'user',
      content: [{ type: 'text', text: 'Go.' }],
      metadata: { run_id },
    },
    run: {
      run_id,
      thread_id,
      agent_id: 'bench',
      parent_run_id: null,
      resolution_id: '1',
      ...inState('running.inferring'),
      dispatch_id,
      session_id,
      created_at: seconds,
      started_at: seconds,
      updated_at: seconds,
      steps: 0,
      input_tokens: 0,
      output_tokens: 0,
      state: null,
    },
    dispatch: {
      dispatch_id,
      thread_id,
      run_id,
      priority: 128,
      dedupe_key: null,
      dispatch_epoch: 1,
      status: 'Claimed',
      available_at: at,
      attempt_count: 0,
      max_attempts: 5,
      last_error: null,
      claim_token: session_id,
      claimed_by: 'bench',
      lease_until: at + 30_000,
      created_at: at,
      updated_at: at,
    },
    events: KINDS.map((event_kind) => createEvent(event_kind, facts, at)),
  };
};

type Facts = { thread_id: string; run_id: string; dispatch_id: string };

const createEvent = (event_kind: string, facts: Facts, created_at: number): LoggedEvent => ({
  event_id: `evt_${uuid()}`,
  event_kind,
  payload: facts,
  thread_id: facts.thread_id,
  run_id: facts.run_id,
  correlation_id: facts.dispatch_id,
  origin: 'mailbox',
  visibility: 'public',
  created_at,
});

const SCOPE = 'default';

export const acceptBatch = (store: Store): Batch => {
  const { thread_id, message, run, dispatch, events } = acceptRows();
  const created_at = run.created_at;
  const metadata = { created_at: dispatch.created_at, updated_at: dispatch.created_at };
  const thread = { id: thread_id, metadata, active_run_id: run.run_id, open_run_id: run.run_id };
  const batch = store.batch('commons');
  store.messages.append(batch, SCOPE, thread_id, [{ seq: 1, message, created_at, external: 1 }]);
  store.runs.put(batch, SCOPE, run, undefined);
  store.dispatches.put(batch, SCOPE, dispatch, undefined);
  store.threads.put(batch, SCOPE, { thread, agent_id: 'bench', epoch: 1 }, undefined);
  store.events.append(batch, SCOPE, thread_id, 1, events);
  return batch;
};
