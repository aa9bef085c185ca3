import { uuidv7 as uuid } from 'uuidv7';
import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import type { Message } from '../../src/schema/message.ts';
import type { Run } from '../../src/schema/run.ts';
import { inState, type RunRecord, type RunState } from '../../src/schema/run-state.ts';
import type { Batch, Store, ThreadRecord } from '../../src/store/index.ts';
import { acceptRows } from './accept-batch.ts';

/**
 * A thread with one run, and the records that a step of the run commits: two messages, seven events, thread and run.
 */

export type GrownThread = {
  record: ThreadRecord;
  run: RunRecord;
  /** messages so far */
  seq: number;
  lastEvent: number;
};

const SCOPE = 'default';

const STEP_KINDS = [
  'ToolCallReady',
  'InferenceComplete',
  'ToolCallDone',
  'MessageCommitted',
  'ThreadMessagesCheckpointed',
  'MessageCommitted',
  'ThreadMessagesCheckpointed',
];

export const putThread = (store: Store, batch: Batch, id: string, state: RunState): GrownThread => {
  const at = Date.now();
  const run: RunRecord = { ...acceptRows().run, thread_id: id, ...inState(state) };
  const thread = { id, metadata: { created_at: at, updated_at: at }, latest_run_id: run.run_id };
  const record = { thread, agent_id: run.agent_id, epoch: 1 };
  store.threads.put(batch, SCOPE, record, undefined);
  store.runs.put(batch, SCOPE, run, undefined);
  return { record, run, seq: 0, lastEvent: 0 };
};

const answerOf = (run_id: string): Message => ({
  id: uuid(),
  role: 'assistant',
  content: [{ type: 'text', text: 'It is seven degrees in Oslo, with some rain in the afternoon.' }],
  metadata: { run_id },
});

const eventsOf = ({ run_id, thread_id, dispatch_id = '' }: Run): LoggedEvent[] =>
  STEP_KINDS.map((event_kind) => ({
    event_id: `evt_${uuid()}`,
    event_kind,
    payload: { thread_id, run_id, dispatch_id, origin: 'user' },
    thread_id,
    run_id,
    correlation_id: dispatch_id,
    origin: 'mailbox',
    visibility: 'public',
    created_at: Date.now(),
  }));

/** Returns the thread after the step. */
export const putStep = (store: Store, batch: Batch, before: GrownThread): GrownThread => {
  const { thread, ...rest } = before.record;
  // The position in the lists of threads changes with every step.
  const updated_at = Math.max(Date.now(), (thread.metadata.updated_at ?? 0) + 1);
  const record = { ...rest, thread: { ...thread, metadata: { ...thread.metadata, updated_at } } };
  const run = { ...before.run, steps: before.run.steps + 1, output_tokens: before.run.output_tokens + 40 };
  const rows = [1, 2].map((step) => {
    const seq = before.seq + step;
    return { seq, message: answerOf(run.run_id), created_at: run.created_at, external: seq };
  });
  const events = eventsOf(run);
  store.messages.append(batch, SCOPE, thread.id, rows);
  store.runs.put(batch, SCOPE, run, before.run);
  store.threads.put(batch, SCOPE, record, before.record);
  store.events.append(batch, SCOPE, thread.id, before.lastEvent + 1, events);
  return { record, run, seq: before.seq + rows.length, lastEvent: before.lastEvent + events.length };
};
