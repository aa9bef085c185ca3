import type { EventVisibility, LoggedEvent } from '../schema/canonical-event.ts';
import { type Ids, seconds } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Message } from '../schema/message.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { Thread } from '../schema/thread.ts';
import type { MessageRow, Store, ThreadRecord } from '../store/index.ts';
import type { EventListener, RuntimeObserver } from './deps.ts';

/**
 * The rows of one thread: its record, the end of its history and the end of its event log in memory, and the
 * only writer of them.
 *
 * Guarantees: what a `Write` gathers is one commit; the memory is ahead of the store by exactly the commits that
 * are under way, in order; after a commit that failed the ledger is broken and refuses everything, so that
 * nobody decides on rows that do not exist. Relies on being the only ledger of its thread in the process.
 * Costs what is written: the history is read once, when somebody asks for it, and appended to after that.
 */

export type MessageRange = { from_seq: number; to_seq: number };

export type EventOptions = {
  run_id?: string;
  correlation_id?: string;
  causation_id?: string;
  origin?: string;
  visibility?: EventVisibility;
};

export type Write = {
  /** milliseconds; one reading of the clock for everything in the commit */
  readonly at: number;
  thread(change: (thread: Thread) => Thread): void;
  create(thread: Thread): void;
  remove(): void;
  bumpEpoch(): number;
  messages(messages: readonly Message[], run_id: string): MessageRange | undefined;
  run(after: Run, before: Run | undefined): void;
  dispatch(after: Dispatch, before: Dispatch | undefined): void;
  event(kind: string, payload: Record<string, unknown>, options?: EventOptions): void;
  /** `input` waits for what the durability setting promises for accepted input. */
  commit(kind: 'progress' | 'input'): Promise<void>;
};

export type Ledger = {
  readonly scope: string;
  readonly id: string;
  record(): ThreadRecord | undefined;
  epoch(): number;
  /** Everything committed or about to be, oldest first. */
  history(): readonly Message[];
  lastSeq(): number;
  /** How many commits are under way. */
  pending(): number;
  /** Resolves when no commit is under way, whether they succeeded or not. */
  quiet(): Promise<void>;
  open(at: number): Write;
};

export type LedgerDeps = {
  store: Store;
  ids: Ids;
  events: EventListener;
  observe: RuntimeObserver['mailbox'];
  /** Called once when a commit fails; the ledger is of no use afterwards. */
  onFailure(error: unknown): void;
};

export const createLedger = (deps: LedgerDeps, scope: string, id: string): Ledger => {
  const { store, ids } = deps;
  let stored = store.threads.get(scope, id);
  let record = stored;
  let epoch = record?.epoch ?? 0;
  let history: Message[] | undefined;
  let tail: { seq: number; external: number } = store.messages.last(scope, id) ?? { seq: 0, external: 0 };
  let lastEvent = store.events.last(scope, id);
  let pending = 0;
  let commits: Promise<unknown> = Promise.resolve();
  let broken = false;

  /** Read before the first append: rows of a commit under way cannot be read yet. */
  const loaded = (): Message[] => {
    history ??= tail.seq === 0 ? [] : Array.from(store.messages.range(scope, id, {}), (row) => row.message);
    return history;
  };

  const open = (at: number): Write => {
    if (broken) throw new Unavailable(`thread '${id}': a commit failed; try again`);
    const batch = store.batch();
    const events: LoggedEvent[] = [];
    // One id a commit, numbered: making ten would cost more than writing the events.
    const eventId = `evt_${ids.uuid()}`;
    let touched = false;

    const write: Write = {
      at,
      thread(change) {
        if (!record) return;
        touched = true;
        record = { ...record, thread: touch(change(record.thread), at) };
      },
      create(thread) {
        touched = true;
        record = { thread, epoch };
        write.event('ThreadCreated', threadFacts(thread), { correlation_id: id, origin: 'server' });
      },
      remove() {
        if (stored) store.threads.remove(batch, scope, stored);
        store.messages.removeAll(batch, scope, id);
        store.state.remove(batch, scope, id);
        stored = undefined;
        record = undefined;
        history = [];
        tail = { seq: 0, external: 0 };
      },
      bumpEpoch() {
        epoch += 1;
        if (record) {
          touched = true;
          record = { ...record, epoch };
        }
        return epoch;
      },
      messages(messages, run_id) {
        if (!record || messages.length === 0) return undefined;
        const rows = numbered(messages, tail, seconds(at));
        loaded().push(...messages);
        store.messages.append(batch, scope, id, rows);
        const range = { from_seq: tail.seq + 1, to_seq: tail.seq + rows.length };
        tail = rows.at(-1) ?? tail;
        for (const row of rows)
          write.event('MessageCommitted', messageFacts(id, run_id, row), committed(run_id));
        write.event(
          'ThreadMessagesCheckpointed',
          checkpointFacts(id, run_id, range, messages),
          committed(run_id),
        );
        return range;
      },
      run(after, before) {
        store.runs.put(batch, scope, after, before);
        write.thread((thread) => projectRun(thread, after));
        if (record && record.thread.latest_run_id === after.run_id)
          record = { ...record, agent_id: after.agent_id };
      },
      dispatch(after, before) {
        store.dispatches.put(batch, scope, after, before);
        observeDispatch(deps.observe, after, before);
      },
      event(kind, payload, options = {}) {
        events.push({
          event_id: `${eventId}_${events.length}`,
          event_kind: kind,
          payload,
          thread_id: id,
          origin: 'mailbox',
          visibility: 'public',
          created_at: at,
          ...options,
        });
      },
      async commit(kind) {
        if (touched && record) {
          store.threads.put(batch, scope, record, stored);
          stored = record;
        }
        const from_seq = lastEvent + 1;
        if (events.length > 0) {
          store.events.append(batch, scope, id, from_seq, events);
          lastEvent += events.length;
        }
        pending += 1;
        const committed = store.commit(batch, kind);
        commits = Promise.allSettled([commits, committed]);
        try {
          await committed;
          if (events.length > 0) deps.events.appended(scope, id, from_seq, events);
        } catch (error) {
          if (!broken) deps.onFailure(error);
          broken = true;
          throw error;
        } finally {
          pending -= 1;
        }
      },
    };
    return write;
  };

  return {
    scope,
    id,
    record: () => record,
    epoch: () => epoch,
    history: loaded,
    lastSeq: () => tail.seq,
    pending: () => pending,
    async quiet() {
      while (pending > 0) await commits;
    },
    open,
  };
};

const OPERATION = {
  Queued: 'nack',
  Claimed: 'claim',
  Acked: 'ack',
  Cancelled: 'cancel',
  Superseded: 'supersede',
  DeadLetter: 'dead_letter',
} as const satisfies Record<Dispatch['status'], string>;

const observeDispatch = (
  observe: RuntimeObserver['mailbox'],
  after: Dispatch,
  before: Dispatch | undefined,
): void => {
  if (!before) observe.operation('enqueue', 'ok');
  if (before ? before.status !== after.status : after.status !== 'Queued') {
    observe.operation(OPERATION[after.status], 'ok');
  }
  const delta = Number(after.status === 'Queued') - Number(before?.status === 'Queued');
  if (delta !== 0) observe.queued(delta);
};

const touch = (thread: Thread, at: number): Thread => ({
  ...thread,
  metadata: { ...thread.metadata, updated_at: at },
});

const numbered = (
  messages: readonly Message[],
  after: { seq: number; external: number },
  created_at: number,
): MessageRow[] => {
  let { seq, external } = after;
  return messages.map((message) => {
    seq += 1;
    if (message.visibility === undefined) external += 1;
    return { seq, message, created_at, external };
  });
};

const committed = (run_id: string): EventOptions => ({ run_id, correlation_id: run_id });

/** Payload of the thread events (runtime.md 13.4): null when unset. */
export const threadFacts = (thread: Thread): Record<string, unknown> => ({
  thread_id: thread.id,
  resource_id: thread.resource_id ?? null,
  parent_thread_id: thread.parent_thread_id ?? null,
  title: thread.metadata.title ?? null,
  created_at: thread.metadata.created_at ?? null,
  updated_at: thread.metadata.updated_at ?? null,
});

const messageKind = (message: Message): string => {
  const internal = message.visibility === 'internal';
  switch (message.role) {
    case 'user':
      return internal ? 'internal_user_input' : 'user_input';
    case 'system':
      return internal ? 'internal_system' : 'system';
    case 'assistant':
      return 'assistant_output';
    case 'tool':
      return 'tool_result';
  }
};

const messageFacts = (thread_id: string, run_id: string, row: MessageRow): Record<string, unknown> => ({
  thread_id,
  run_id,
  message_id: row.message.id,
  message_seq: row.seq,
  role: row.message.role,
  content_blocks: row.message.content,
  message_kind: messageKind(row.message),
  parent_message_id: null,
});

const checkpointFacts = (
  thread_id: string,
  run_id: string,
  range: MessageRange,
  messages: readonly Message[],
): Record<string, unknown> => ({
  thread_id,
  run_id,
  message_seq_start: range.from_seq,
  message_seq_end: range.to_seq,
  message_count: messages.length,
  message_ids: messages.map((message) => message.id),
});

/** The run pointers of a thread follow the commits of its runs (runtime.md 2.1). */
const projectRun = (thread: Thread, run: Run): Thread => {
  if (thread.latest_run_updated_at !== undefined && run.updated_at < thread.latest_run_updated_at)
    return thread;
  const { active_run_id, open_run_id, ...rest } = thread;
  const latest = { ...rest, latest_run_id: run.run_id, latest_run_updated_at: run.updated_at };
  switch (run.status) {
    case 'running':
      return { ...latest, active_run_id: run.run_id, open_run_id: run.run_id };
    case 'created':
    case 'waiting':
      return { ...latest, open_run_id: run.run_id };
    case 'done':
      return {
        ...latest,
        ...(active_run_id !== undefined && active_run_id !== run.run_id && { active_run_id }),
        ...(open_run_id !== undefined && open_run_id !== run.run_id && { open_run_id }),
      };
  }
};
