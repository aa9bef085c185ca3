import type { KeptState } from '../loop/state.ts';
import type { EventVisibility, LoggedEvent } from '../schema/canonical-event.ts';
import { monotonic, seconds } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Message } from '../schema/message.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { DeliveryMode, PendingMessage } from '../schema/pending.ts';
import type { Run } from '../schema/run.ts';
import type { Thread } from '../schema/thread.ts';
import type { Batch, MessageRow, TimedRun } from '../store/index.ts';
import { checkpointFacts, type MessageRange, messageFacts, threadFacts } from './facts.ts';
import { historyBytes, messageBytes } from './history-bytes.ts';
import { historyOf, keptRow, type Ledger, NO_MESSAGES, type Tail, type Told } from './ledger.ts';
import { listRun } from './listed-runs.ts';
import { observeDispatch } from './observe-dispatch.ts';
import { retractedBy } from './retraction.ts';

/**
 * One commit of a thread: what is put into a write becomes durable together, or not at all, and then everybody who
 * has to know is told. The ledger has all of it at once.
 */

export type Write = Told & {
  readonly ledger: Ledger;
  /** milliseconds; one time for everything in the commit, never before that of the write before */
  readonly at: number;
  readonly batch: Batch;
  readonly events: LoggedEvent[];
  readonly dispatches: [after: Dispatch, before: Dispatch | undefined][];
  /** One id a commit, numbered: making ten would cost more than writing the events. */
  readonly eventId: string;
  /** The record of the thread has changed. */
  touched: boolean;
};

/** @throws Unavailable once a commit has failed */
export const openWrite = (ledger: Ledger, now: number): Write => {
  if (ledger.broken) throw new Unavailable(`thread '${ledger.id}': a commit failed; try again`);
  ledger.writtenAt = Math.max(ledger.writtenAt, now);
  return {
    ledger,
    at: ledger.writtenAt,
    batch: ledger.deps.store.batch(),
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
  ledger.record =
    agent_id === undefined ? { thread, epoch: ledger.epoch } : { thread, epoch: ledger.epoch, agent_id };
};

export const createThread = (write: Write, thread: Thread): void => {
  const { ledger } = write;
  write.touched = true;
  ledger.record = { thread, epoch: ledger.epoch };
  logEvent(write, 'ThreadCreated', threadFacts(thread), { correlation_id: ledger.id, origin: 'server' });
};

export const removeThread = ({ ledger, batch }: Write): void => {
  const { deps, scope, id } = ledger;
  const { store } = deps;
  if (ledger.committed) store.threads.remove(batch, scope, ledger.committed);
  store.pending.removeAll(batch, scope, id);
  store.tickets.removeAll(batch, scope, id);
  store.removals.begin(batch, scope, id);
  store.state.remove(batch, scope, id);
  ledger.pending = [];
  ledger.kept = undefined;
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
  run_id: string,
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
  const about = { run_id, correlation_id: run_id };
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

/** Puts messages behind those that wait already. */
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

/** Puts what waits into this order, with these changes. */
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

/** What waited joins the history, as input of the run. */
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

/** The message as one of the run. */
export const ofRun = (message: Message, run_id: string): Message => {
  const attributed: Message = { ...message };
  attributed.metadata = { ...message.metadata };
  attributed.metadata.run_id = run_id;
  return attributed;
};

/** Returns when its state as a task changed last. */
export const putRun = (write: Write, after: Run, before: Run | undefined): TimedRun => {
  const { ledger, batch, at } = write;
  const { deps, scope, waiting, created } = ledger;
  const { run_id, status } = after;
  const changed_at = deps.store.runs.put(batch, scope, after, before, at);
  const timed = { run: after, changed_at };
  write.runs.push(timed);
  listRun(deps.store, batch, { scope, before, after });
  waiting.delete(run_id);
  created.delete(run_id);
  if (status === 'done' && ledger.kept?.runs[run_id]) {
    keepState(write, run_id, { ...ledger.kept, runHidden: {} });
  }
  if (status === 'done') deps.onRunDone(run_id);
  deps.onRunWritten(after, before);
  if (status === 'waiting') waiting.set(run_id, after);
  if (status === 'created') created.set(run_id, after);
  projectRun(write, after);
  return timed;
};

/** The run pointers of a thread follow the commits of its runs (runtime.md 2.1). */
const projectRun = (write: Write, run: Run): void => {
  const { record } = write.ledger;
  if (!record) return;
  const { latest_run_updated_at } = record.thread;
  const isLatest = latest_run_updated_at === undefined || run.updated_at >= latest_run_updated_at;
  const thread = isLatest ? pointed(record.thread, run) : record.thread;
  keepThread(write, thread, thread.latest_run_id === run.run_id ? run.agent_id : record.agent_id);
};

const pointed = ({ active_run_id, open_run_id, ...rest }: Thread, run: Run): Thread => {
  const { run_id, status } = run;
  const thread: Thread = rest;
  thread.latest_run_id = run_id;
  thread.latest_run_updated_at = run.updated_at;
  if (status === 'running') thread.active_run_id = run_id;
  if (status !== 'done') thread.open_run_id = run_id;
  else {
    if (active_run_id !== undefined && active_run_id !== run_id) thread.active_run_id = active_run_id;
    if (open_run_id !== undefined && open_run_id !== run_id) thread.open_run_id = open_run_id;
  }
  return thread;
};

/** State that is not part of the run record. */
export const keepState = (
  { ledger, batch }: Write,
  run_id: string,
  { thread, threadHidden, runHidden }: KeptState,
): void => {
  const runs = { ...keptRow(ledger).runs, [run_id]: runHidden };
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
  kind: string,
  payload: Record<string, unknown>,
  options: EventOptions = NO_OPTIONS,
): void => {
  if (!ledger.deps.events) return;
  events.push({
    event_id: `${eventId}_${events.length}`,
    event_kind: kind,
    payload,
    thread_id: ledger.id,
    origin: 'mailbox',
    visibility: 'public',
    created_at: at,
    ...options,
  });
};

const NO_OPTIONS: EventOptions = {};

/** `input` waits for what the durability setting promises for accepted input. */
export const commit = async (write: Write, kind: 'progress' | 'input'): Promise<void> => {
  const { ledger, batch, events } = write;
  const { deps, scope, id } = ledger;
  if (write.touched && ledger.record) {
    deps.store.threads.put(batch, scope, ledger.record, ledger.committed);
    ledger.committed = ledger.record;
  }
  const from_seq = ledger.lastEvent + 1;
  if (events.length > 0) {
    deps.store.events.append(batch, scope, id, from_seq, events);
    ledger.lastEvent += events.length;
  }
  if (write.runs.length > 0) ledger.untold.push(write);
  if (ledger.record) keepIssued(write);
  ledger.underWay += 1;
  const startedAt = write.dispatches.length > 0 ? monotonic(deps.clock) : 0;
  try {
    await deps.store.commit(batch, kind);
  } catch (error) {
    ledger.underWay -= 1;
    tellDispatches(write, 'error', startedAt);
    if (!ledger.broken) deps.onFailure(error);
    ledger.broken = true;
    tellQuiet(ledger);
    throw error;
  }
  ledger.underWay -= 1;
  tellDispatches(write, 'ok', startedAt);
  tell(write, from_seq);
  if (ledger.underWay === 0) {
    forgetIssued(ledger);
    deps.onQuiet();
  }
  tellQuiet(ledger);
};

const tellDispatches = ({ ledger, dispatches }: Write, result: 'ok' | 'error', startedAt: number): void => {
  if (dispatches.length === 0) return;
  const { deps } = ledger;
  const commit = { result, seconds: (monotonic(deps.clock) - startedAt) / 1000 };
  for (const [after, before] of dispatches)
    telling(ledger, () => observeDispatch(deps.observe, after, before, commit));
};

/** What is durable stays so, whatever becomes of those who are told. */
const tell = (write: Write, from_seq: number): void => {
  const { ledger, events } = write;
  const { deps, scope, id } = ledger;
  if (events.length > 0) telling(ledger, () => deps.events?.appended(scope, id, from_seq, events));
  for (const { run } of write.runs) telling(ledger, () => deps.onStored(run));
  write.durable = true;
  telling(ledger, () => tellRuns(ledger));
};

const telling = ({ deps }: Ledger, act: () => void): void => {
  try {
    act();
  } catch (error) {
    deps.onDeafListener(error);
  }
};

/** Commits become durable out of order, since some wait for the disk; a reader must not see a run go back. */
const tellRuns = (ledger: Ledger): void => {
  for (let first = ledger.untold[0]; first?.durable; first = ledger.untold[0]) {
    ledger.untold.shift();
    for (const { run, changed_at } of first.runs) ledger.deps.runs?.stored(ledger.scope, run, changed_at);
  }
};

const tellQuiet = (ledger: Ledger): void => {
  if (ledger.underWay > 0 || ledger.whenQuiet.length === 0) return;
  const told = ledger.whenQuiet;
  ledger.whenQuiet = [];
  for (const resolve of told) resolve();
};

/** Adds to the commit what it has to keep of the tickets. */
const keepIssued = ({ ledger, batch }: Write): void => {
  const { deps, scope, id, issuing } = ledger;
  for (const ticket of issuing.unsaved) deps.store.tickets.put(batch, scope, id, ticket);
  issuing.unsaved = [];
};

/** The store has everything. */
const forgetIssued = ({ issuing }: Ledger): void => {
  if (issuing.unsaved.length > 0 || issuing.ids.size === 0) return;
  issuing.ids.clear();
  issuing.calls.clear();
};
