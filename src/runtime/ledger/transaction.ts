import type { PersistedState } from '../../loop/state.ts';
import type { EventVisibility, LoggedEvent } from '../../schema/canonical-event.ts';
import { seconds } from '../../schema/clock.ts';
import type { Dispatch } from '../../schema/dispatch.ts';
import type { EventKind } from '../../schema/event-kinds.ts';
import type { Accept } from '../../schema/idempotency.ts';
import type { Message } from '../../schema/message.ts';
import { Unavailable } from '../../schema/outcome.ts';
import { baseOf, ownedIn, ownerOf } from '../../schema/partition.ts';
import type { DeliveryMode, PendingMessage } from '../../schema/pending.ts';
import { maskCredentialsIn } from '../../schema/redaction/credentials.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import { isShared, type Thread } from '../../schema/thread.ts';
import { otherUidOf, uidOf } from '../../schema/thread-uid.ts';
import type { Batch, MessageRow, TimedRun } from '../../store/index.ts';
import { checkpointFacts, type MessageRange, messageFacts, threadFacts } from './event-payloads.ts';
import { historyBytes, messageBytes } from './history-bytes.ts';
import {
  historyOf,
  type Ledger,
  NO_MESSAGES,
  type PendingNotification,
  persistedRow,
  type Tail,
} from './ledger.ts';
import { savePastState } from './past-state.ts';
import { retractedBy } from './retraction.ts';
import { listRun } from './run-indexes.ts';

/**
 * One commit of a thread: all changes in a write become durable together, or not at all, and listeners are notified
 * afterwards. The ledger contains the changes immediately.
 */

export type Write = PendingNotification & {
  readonly ledger: Ledger;
  /** Milliseconds; one time for the whole commit, never before that of the previous write. */
  readonly at: number;
  readonly batch: Batch;
  readonly events: LoggedEvent[];
  readonly dispatches: [after: Dispatch, before: Dispatch | undefined][];
  /** One id per commit, extended by a number per event: generating ten ids would cost more than writing the events. */
  readonly eventId: string;
  /** Whether the record of the thread has changed. */
  touched: boolean;
};

/** Adds the row of a request with a key to the commit that accepts it. */
export const acceptKeyed = <Result>(
  { ledger, batch }: Write,
  keyed: Accept<Result> | undefined,
  result: Result,
): void => {
  if (keyed) ledger.deps.store.idempotency.put(batch, keyed(result));
};

/** @throws Unavailable once a commit has failed */
export const openWrite = (ledger: Ledger, now: number): Write => {
  if (ledger.broken) throw new Unavailable(`thread '${ledger.id}': a commit failed; try again`);
  ledger.writtenAt = Math.max(ledger.writtenAt, now);
  return {
    ledger,
    at: ledger.writtenAt,
    batch: ledger.deps.store.batch(ledger.place),
    events: [],
    runs: [],
    dispatches: [],
    eventId: `evt_${ledger.deps.ids.uuid()}`,
    touched: false,
    durable: false,
  };
};

export const changeThread = (write: Write, change: (thread: Thread) => Thread): void => {
  const { record } = write.ledger;
  if (record) keepThread(write, change(record.thread), record.agent_id);
};

const keepThread = (write: Write, changed: Thread, agent_id: string | undefined): void => {
  const { ledger, at } = write;
  const thread = { ...changed };
  thread.metadata = { ...changed.metadata };
  thread.metadata.updated_at = at;
  write.touched = true;
  const lineage = ledger.record?.lineage;
  const { epoch } = ledger;
  ledger.record = agent_id === undefined ? { thread, epoch } : { thread, epoch, agent_id };
  if (lineage !== undefined) ledger.record.lineage = lineage;
};

/** @param below a thread of the scope below which the runtime makes this one: they have one lineage */
export const createThread = (write: Write, given: Thread, below?: string): Thread => {
  const { ledger } = write;
  const thread = { ...given, ...ownershipOf(ledger, given) };
  write.touched = true;
  ledger.record = { thread, epoch: ledger.epoch };
  if (below !== undefined)
    ledger.record.lineage = String(ledger.deps.store.threads.lineageOf(ledger.scope, below));
  logEvent(write, 'ThreadCreated', threadFacts(thread), { correlation_id: ledger.id, origin: 'server' });
  return thread;
};

/** A child takes the visibility of its parent when it is made (identity.md 1.3). */
const ownershipOf = (
  ledger: Ledger,
  { parent_thread_id }: Thread,
): Pick<Thread, 'uid' | 'owner' | 'visibility'> => {
  const { deps, scope } = ledger;
  const parent = parent_thread_id === undefined ? undefined : deps.store.threads.get(scope, parent_thread_id);
  const visibility = parent?.thread.visibility;
  const owner = ownerOf(scope);
  if (owner === undefined) return visibility ? { visibility } : {};
  return { uid: newUid(ledger), owner, visibility: visibility ?? 'private' };
};

/** A thread that was given to another owner keeps its uid, so a new thread with its former id has another one. */
const newUid = ({ deps, scope, id, writtenAt }: Ledger): string | undefined => {
  const uid = uidOf(scope, id);
  if (uid === undefined || uid === id) return uid;
  const isFree = deps.store.threads.partitionsWith(ownedIn(baseOf(scope)), uid, 1).length === 0;
  return isFree ? uid : otherUidOf(id, `${scope}\0${id}\0${writtenAt}`);
};

export const removeThread = ({ ledger, batch }: Write): void => {
  const { deps, scope, id } = ledger;
  const { store } = deps;
  if (ledger.committed) {
    store.threads.remove(batch, scope, ledger.committed);
    store.transcripts.removeAll(batch, scope, ledger.committed.thread);
  }
  store.pending.removeAll(batch, scope, id);
  store.tickets.removeAll(batch, scope, id);
  store.removals.begin(batch, scope, id);
  store.state.remove(batch, scope, id);
  store.files.removeThread(batch, scope, id);
  ledger.pending = [];
  ledger.kept = undefined;
  ledger.savedState = undefined;
  ledger.committed = undefined;
  ledger.record = undefined;
  ledger.history = [];
  ledger.known = undefined;
  ledger.tail = NO_MESSAGES;
};

export const bumpEpoch = (write: Write): void => {
  const { ledger } = write;
  ledger.epoch += 1;
  if (!ledger.record) return;
  write.touched = true;
  ledger.record = { ...ledger.record };
  ledger.record.epoch = ledger.epoch;
};

export const appendMessages = (
  write: Write,
  messages: readonly Message[],
  run_id: string | undefined,
): MessageRange | undefined => {
  const { ledger, batch, at } = write;
  const { deps, scope, id } = ledger;
  if (!ledger.record || messages.length === 0) return undefined;
  const bytes = historyBytes(ledger);
  const { tail } = ledger;
  const rows = numbered(messages, { ...tail, bytes }, seconds(at));
  const history = historyOf(ledger);
  history.push(...messages);
  for (const message of messages) ledger.known?.add(message.id);
  for (const row of rows) {
    for (const retraction of retractedBy(history, row)) {
      deps.store.retractions.put(batch, scope, id, retraction);
    }
  }
  deps.store.messages.append(batch, scope, id, rows);
  const range = { from_seq: tail.seq + 1, to_seq: tail.seq + rows.length };
  ledger.tail = rows.at(-1) ?? tail;
  const about = run_id === undefined ? { correlation_id: id } : { run_id, correlation_id: run_id };
  for (const row of rows) logEvent(write, 'MessageCommitted', messageFacts(id, run_id, row), about);
  logEvent(write, 'ThreadMessagesCheckpointed', checkpointFacts(id, run_id, range, messages), about);
  return range;
};

const numbered = (messages: readonly Message[], after: Required<Tail>, created_at: number): MessageRow[] => {
  let { seq, external, bytes } = after;
  return messages.map((message) => {
    seq += 1;
    bytes += messageBytes(message);
    if (message.visibility === undefined) external += 1;
    return { seq, message, created_at, external, bytes };
  });
};

/** Adds messages after the pending ones. */
export const stage = (
  { ledger, batch, at }: Write,
  messages: readonly Message[],
  delivery_mode: DeliveryMode,
): PendingMessage[] => {
  const first = (ledger.pending.at(-1)?.position ?? 0) + 1;
  const staged = messages.map((message, index) => ({
    pending_id: message.id,
    thread_id: ledger.id,
    position: first + index,
    message,
    revision: 1,
    delivery_mode,
    created_at: seconds(at),
    updated_at: seconds(at),
  }));
  for (const entry of staged) ledger.deps.store.pending.put(batch, ledger.scope, entry);
  ledger.pending = [...ledger.pending, ...staged];
  return staged;
};

/** Replaces the pending messages with this list, in its order. */
export const restage = ({ ledger, batch }: Write, entries: readonly PendingMessage[]): void => {
  const { deps, scope } = ledger;
  for (const entry of ledger.pending) deps.store.pending.remove(batch, scope, entry);
  ledger.pending = entries.map((entry, index) => ({ ...entry, position: index + 1 }));
  for (const entry of ledger.pending) deps.store.pending.put(batch, scope, entry);
};

const unstage = ({ ledger, batch }: Write, entries: readonly PendingMessage[]): void => {
  if (entries.length === 0) return;
  for (const entry of entries) ledger.deps.store.pending.remove(batch, ledger.scope, entry);
  ledger.pending = ledger.pending.filter((entry) => !entries.includes(entry));
};

/** Moves pending messages into the history, as input of the run. */
export const deliver = (
  write: Write,
  entries: readonly PendingMessage[],
  run_id: string,
): MessageRange | undefined => {
  unstage(write, entries);
  return appendMessages(
    write,
    entries.map(({ message }) => ofRun(message, run_id)),
    run_id,
  );
};

/** Attributes the message to the run. */
export const ofRun = (message: Message, run_id: string): Message => {
  const attributed: Message = { ...message };
  attributed.metadata = { ...message.metadata };
  attributed.metadata.run_id = run_id;
  return attributed;
};

/** Returns the run with the time of the last change of its task state. */
export const putRun = (write: Write, after: RunRecord, before: RunRecord | undefined): TimedRun => {
  const { ledger, batch, at } = write;
  const { deps, scope, waiting, created } = ledger;
  const { run_id } = after;
  const thread = ledger.record?.thread;
  const changed_at = deps.store.runs.put(batch, scope, after, before, at, thread && isShared(thread));
  const timed = { run: after, changed_at };
  write.runs.push(timed);
  listRun(deps.store, batch, { scope, before, after });
  waiting.delete(run_id);
  created.delete(run_id);
  if (hasTag(after, 'done') && ledger.kept?.runs[run_id]) {
    persistState(write, run_id, { ...ledger.kept, runHidden: {} });
  }
  if (hasTag(after, 'done')) savePastState(write);
  if (hasTag(after, 'done')) deps.onRunDone(run_id);
  deps.onRunWritten(after, before, { batch, at, seq: ledger.tail.seq });
  if (after.started_at !== undefined && before?.started_at === undefined) deps.onStarting(batch, after);
  if (hasTag(after, 'waiting')) waiting.set(run_id, after);
  if (hasTag(after, 'created')) created.set(run_id, after);
  projectRun(write, after);
  return timed;
};

/** The run pointers of a thread follow the commits of its runs (runtime.md 2.1). */
const projectRun = (write: Write, run: RunRecord): void => {
  const { record } = write.ledger;
  if (!record) return;
  const { latest_run_updated_at } = record.thread;
  const isLatest = latest_run_updated_at === undefined || run.updated_at >= latest_run_updated_at;
  const thread = isLatest ? pointed(record.thread, run) : record.thread;
  keepThread(write, thread, thread.latest_run_id === run.run_id ? run.agent_id : record.agent_id);
};

const pointed = ({ active_run_id, open_run_id, ...rest }: Thread, run: RunRecord): Thread => {
  const { run_id } = run;
  const thread: Thread = rest;
  thread.latest_run_id = run_id;
  thread.latest_run_updated_at = run.updated_at;
  if (hasTag(run, 'running')) thread.active_run_id = run_id;
  if (!hasTag(run, 'done')) thread.open_run_id = run_id;
  else {
    if (active_run_id !== undefined && active_run_id !== run_id) thread.active_run_id = active_run_id;
    if (open_run_id !== undefined && open_run_id !== run_id) thread.open_run_id = open_run_id;
  }
  return thread;
};

/** Writes state that is not part of the run record. */
export const persistState = (
  { ledger, batch }: Write,
  run_id: string,
  { thread, threadHidden, runHidden }: PersistedState,
): void => {
  const runs = { ...persistedRow(ledger).runs, [run_id]: runHidden };
  if (Object.keys(runHidden).length === 0) delete runs[run_id];
  ledger.kept = { thread, threadHidden, runs };
  if (ledger.record) ledger.deps.store.state.put(batch, ledger.scope, ledger.id, ledger.kept);
};

export const putDispatch = (write: Write, after: Dispatch, before: Dispatch | undefined): void => {
  write.ledger.deps.store.dispatches.put(write.batch, write.ledger.scope, after, before);
  write.dispatches.push([after, before]);
};

export type EventOptions = {
  run_id?: string;
  correlation_id?: string;
  causation_id?: string;
  origin?: string;
  visibility?: EventVisibility;
};

export const logEvent = (
  { ledger, at, events, eventId }: Write,
  kind: EventKind,
  payload: Record<string, unknown>,
  options: EventOptions = NO_OPTIONS,
): void => {
  if (!ledger.deps.events) return;
  events.push({
    event_id: `${eventId}_${events.length}`,
    event_kind: kind,
    payload: maskCredentialsIn(payload),
    thread_id: ledger.id,
    origin: 'mailbox',
    visibility: 'public',
    created_at: at,
    ...options,
  });
};

const NO_OPTIONS: EventOptions = {};
