import type { KeptState } from '../loop/state.ts';
import type { EventVisibility, LoggedEvent } from '../schema/canonical-event.ts';
import { type Ids, seconds } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Message } from '../schema/message.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { DeliveryMode, PendingMessage } from '../schema/pending.ts';
import type { Run } from '../schema/run.ts';
import { awaitsTasks } from '../schema/run-state.ts';
import type { Thread } from '../schema/thread.ts';
import type { Batch, MessageRow, Store, ThreadRecord, TimedRun } from '../store/index.ts';
import type { EventListener, RunOutcome, RuntimeObserver, RunWatch } from './deps.ts';
import { expiryOf } from './expiry.ts';
import { checkpointFacts, type MessageRange, messageFacts, threadFacts } from './facts.ts';
import { retractedBy } from './retraction.ts';
import { isStandIn } from './stand-in.ts';

/**
 * The rows of one thread: its record, the end of its history and the end of its event log in memory, and the
 * only writer of them.
 *
 * Guarantees: what a `Write` gathers is one commit; the memory is ahead of the store by exactly the commits that
 * are under way, in order; after a commit that failed the ledger is broken and refuses everything, so that
 * nobody decides on rows that do not exist. Relies on being the only ledger of its thread in the process.
 * Costs what is written: the history is read once, when somebody asks for it, and appended to after that.
 */

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
  /** Puts messages behind those that wait already. */
  stage(messages: readonly Message[], mode: DeliveryMode): PendingMessage[];
  /** Puts what waits into this order, with these changes. */
  restage(entries: readonly PendingMessage[]): void;
  unstage(entries: readonly PendingMessage[]): void;
  /** What waited joins the history, as input of the run. */
  deliver(entries: readonly PendingMessage[], run_id: string): MessageRange | undefined;
  run(after: Run, before: Run | undefined): void;
  /** State that is not part of the run record. */
  keep(run_id: string, kept: KeptState): void;
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
  /** Is there a message of this id in the history, or does one wait to join it? */
  hasMessage(message_id: string): boolean;
  lastSeq(): number;
  /** Messages that wait to join the history, in their order. */
  pending(): readonly PendingMessage[];
  /** State of the thread, and hidden state of the run. */
  kept(run_id: string): KeptState;
  /** Runs of the thread that wait for a decision, input or tasks. */
  waiting(): ReadonlyMap<string, Run>;
  /** Runs that were accepted here and have not begun; the store may not have them yet. */
  created(): ReadonlyMap<string, Run>;
  /** The run that new input continues: the open one, if it waits. */
  openRun(): Run | undefined;
  /** How many commits are under way. */
  commits(): number;
  /** No commit has failed. */
  isSound(): boolean;
  /** Resolves when no commit is under way, whether they succeeded or not. */
  quiet(): Promise<void>;
  open(at: number): Write;
};

type Told = { runs: TimedRun[]; durable: boolean };

type KeptRow = Omit<KeptState, 'runHidden'> & { runs: Record<string, KeptState['runHidden']> };

export type LedgerDeps = {
  store: Store;
  ids: Ids;
  /** Without, no event is logged. */
  events: EventListener | undefined;
  /** Without, nobody follows runs from outside. */
  runs: RunWatch | undefined;
  observe: Pick<RuntimeObserver, 'mailbox' | 'runs'>;
  /** Called for every run record that a commit has written. */
  onStored(run: Run): void;
  /** A run of the thread is done, or is about to be. */
  onRunDone(run_id: string): void;
  /** Called for every run record that a commit is about to write. */
  onRunWritten(after: Run, before: Run | undefined): void;
  /** Called once when a commit fails; the ledger is of no use afterwards. */
  onFailure(error: unknown): void;
  /** Called when no commit is under way any more. */
  onQuiet(): void;
  /** One who is told of a commit has failed. The commit is durable all the same. */
  onDeafListener(error: unknown): void;
};

export const createLedger = (deps: LedgerDeps, scope: string, id: string): Ledger => {
  const { store, ids } = deps;
  let stored = store.threads.get(scope, id);
  let record = stored;
  let epoch = record?.epoch ?? 0;
  let history: Message[] | undefined;
  /** Ids of the history, once somebody has asked for one. */
  let known: Set<string> | undefined;
  let tail: { seq: number; external: number } = (record && store.messages.last(scope, id)) ?? {
    seq: 0,
    external: 0,
  };
  let lastEvent = store.events.last(scope, id);
  let underWay = 0;
  let commits: Promise<unknown> = Promise.resolve();
  let broken = false;
  /** Run records of commits that have not been told of, in the order of the commits. */
  let untold: Told[] = [];
  let kept: KeptRow | undefined;
  // A thread that is not there has no messages, and nothing of it waits.
  let pending = record ? store.pending.of(scope, id) : [];
  const created = new Map<string, Run>();
  const waiting = new Map(
    record ? store.runs.waitingOf(scope, id).map((run) => [run.run_id, run] as const) : [],
  );

  const keptRow = (): KeptRow => {
    // Only `keep` writes this row.
    const stored = record && (store.state.get(scope, id) as KeptRow | undefined);
    kept ??= stored ?? { thread: {}, threadHidden: {}, runs: {} };
    return kept;
  };

  /** Read before the first append: rows of a commit under way cannot be read yet. */
  const loaded = (): Message[] => {
    history ??= tail.seq === 0 ? [] : Array.from(store.messages.range(scope, id, {}), (row) => row.message);
    return history;
  };

  /** A wait that has an end is found by its time, also by the next process. */
  const moveDeadline = (
    batch: Batch,
    before: number | undefined,
    after: number | undefined,
    run_id: string,
  ): void => {
    if (before === after) return;
    if (before !== undefined) store.deadlines.remove(batch, { at: before, scope, thread_id: id, run_id });
    if (after !== undefined) store.deadlines.put(batch, { at: after, scope, thread_id: id, run_id });
  };

  /** A wait for tasks is found by the next process, which does not have them. */
  const moveAwaiting = (batch: Batch, before: Run | undefined, after: Run): void => {
    if (awaitsTasks(before) === awaitsTasks(after)) return;
    const row = { scope, thread_id: id, run_id: after.run_id };
    if (awaitsTasks(after)) store.awaiting.put(batch, row);
    else store.awaiting.remove(batch, row);
  };

  /** Commits become durable out of order, since some wait for the disk; a reader must not see a run go back. */
  const tellRuns = (): void => {
    while (untold[0]?.durable) {
      const [first, ...rest] = untold;
      untold = rest;
      for (const { run, changed_at } of first?.runs ?? []) deps.runs?.stored(scope, run, changed_at);
    }
  };

  const telling = (tell: () => void): void => {
    try {
      tell();
    } catch (error) {
      deps.onDeafListener(error);
    }
  };

  const open = (at: number): Write => {
    if (broken) throw new Unavailable(`thread '${id}': a commit failed; try again`);
    const batch = store.batch();
    const events: LoggedEvent[] = [];
    const moved: [after: Dispatch, before: Dispatch | undefined][] = [];
    const told: Told = { runs: [], durable: false };
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
        store.pending.removeAll(batch, scope, id);
        store.retractions.removeAll(batch, scope, id);
        store.state.remove(batch, scope, id);
        pending = [];
        kept = undefined;
        stored = undefined;
        record = undefined;
        history = [];
        known = undefined;
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
        for (const message of messages) known?.add(message.id);
        for (const row of rows) {
          for (const retraction of retractedBy(loaded(), row)) {
            store.retractions.put(batch, scope, id, retraction);
          }
        }
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
      stage(messages, delivery_mode) {
        const first = (pending.at(-1)?.position ?? 0) + 1;
        const staged = messages.map((message, index) => ({
          pending_id: message.id,
          thread_id: id,
          position: first + index,
          message,
          revision: 1,
          delivery_mode,
          created_at: seconds(at),
          updated_at: seconds(at),
        }));
        for (const entry of staged) store.pending.put(batch, scope, entry);
        pending = [...pending, ...staged];
        return staged;
      },
      restage(entries) {
        for (const entry of pending) store.pending.remove(batch, scope, entry);
        pending = entries.map((entry, index) => ({ ...entry, position: index + 1 }));
        for (const entry of pending) store.pending.put(batch, scope, entry);
      },
      unstage(entries) {
        if (entries.length === 0) return;
        for (const entry of entries) store.pending.remove(batch, scope, entry);
        pending = pending.filter((entry) => !entries.includes(entry));
      },
      deliver(entries, run_id) {
        write.unstage(entries);
        const delivered = entries.map(({ message }) => ({
          ...message,
          metadata: { ...message.metadata, run_id },
        }));
        return write.messages(delivered, run_id);
      },
      run(after, before) {
        const changed_at = store.runs.put(batch, scope, after, before, at);
        told.runs.push({ run: after, changed_at });
        moveDeadline(batch, before && expiryOf(before), expiryOf(after), after.run_id);
        moveAwaiting(batch, before, after);
        waiting.delete(after.run_id);
        created.delete(after.run_id);
        if (after.status === 'done' && kept?.runs[after.run_id]) {
          write.keep(after.run_id, { ...kept, runHidden: {} });
        }
        if (after.status === 'done') deps.onRunDone(after.run_id);
        deps.onRunWritten(after, before);
        if (after.status === 'waiting') waiting.set(after.run_id, after);
        if (after.status === 'created') created.set(after.run_id, after);
        write.thread((thread) => projectRun(thread, after));
        if (record && record.thread.latest_run_id === after.run_id)
          record = { ...record, agent_id: after.agent_id };
      },
      keep(run_id, { thread, threadHidden, runHidden }) {
        const runs = { ...keptRow().runs, [run_id]: runHidden };
        if (Object.keys(runHidden).length === 0) delete runs[run_id];
        kept = { thread, threadHidden, runs };
        if (record) store.state.put(batch, scope, id, kept);
      },
      dispatch(after, before) {
        if (isStandIn(after)) return;
        store.dispatches.put(batch, scope, after, before);
        moved.push([after, before]);
      },
      event(kind, payload, options = {}) {
        if (!deps.events) return;
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
        if (deps.runs && told.runs.length > 0) untold.push(told);
        underWay += 1;
        const committed = store.commit(batch, kind);
        commits = Promise.allSettled([commits, committed]);
        try {
          await committed;
        } catch (error) {
          underWay -= 1;
          if (!broken) deps.onFailure(error);
          broken = true;
          throw error;
        }
        underWay -= 1;
        // What is durable stays so, whatever becomes of those who are told.
        telling(() => {
          for (const [after, before] of moved) observeDispatch(deps.observe, after, before);
        });
        if (events.length > 0) telling(() => deps.events?.appended(scope, id, from_seq, events));
        for (const { run } of told.runs) telling(() => deps.onStored(run));
        told.durable = true;
        telling(tellRuns);
        if (underWay === 0) deps.onQuiet();
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
    hasMessage(message_id) {
      known ??= new Set(loaded().map((message) => message.id));
      return known.has(message_id) || pending.some(({ message }) => message.id === message_id);
    },
    lastSeq: () => tail.seq,
    commits: () => underWay,
    isSound: () => !broken,
    pending: () => pending,
    kept(run_id) {
      const { thread, threadHidden, runs } = keptRow();
      return { thread, threadHidden, runHidden: runs[run_id] ?? {} };
    },
    waiting: () => waiting,
    created: () => created,
    openRun() {
      const open = record?.thread.open_run_id ?? record?.thread.latest_run_id;
      return open === undefined ? undefined : waiting.get(open);
    },
    async quiet() {
      while (underWay > 0) await commits;
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

/** What a dispatch came to that nobody claimed. */
const UNTOUCHED: Partial<Record<Dispatch['status'], RunOutcome>> = {
  Cancelled: 'cancelled',
  Superseded: 'superseded',
  DeadLetter: 'dead_letter',
};

const observeDispatch = (
  { mailbox, runs }: LedgerDeps['observe'],
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
