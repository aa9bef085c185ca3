import type { PersistedState } from '../../loop/state.ts';
import type { Clock, Ids } from '../../schema/clock.ts';
import type { Message } from '../../schema/message.ts';
import type { PendingMessage } from '../../schema/pending.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { Batch, BatchPlace, PastState, Store, ThreadRecord, TimedRun } from '../../store/index.ts';
import type {
  EventListener,
  LegBook,
  RunCommit,
  RunTraces,
  RuntimeDeps,
  RuntimeObserver,
  RunWatch,
} from '../deps.ts';
import { applyRewinds } from './rewind.ts';
import { type Issuing, newIssuing } from './unsaved-tickets.ts';

/**
 * The rows of one thread: its record, the end of its history and the end of its event log in memory. `write.ts` is the
 * only module that writes them.
 *
 * Guarantees: the memory is ahead of the store by exactly the commits in progress, in order; after a failed commit the
 * ledger is broken and rejects everything, so that no decision is based on rows that do not exist.
 * Relies on being the only ledger of its thread in the process.
 * Cost: proportional to the writes. The history is read once, at its first use, and appended to after that. A long one
 * is read in windows before the first request that needs it (`history-loading.ts`).
 */

/** The part of a store that a ledger uses: the real one, or the replacement in `in-memory.ts`. */
export type LedgerStore = {
  batch: Store['batch'];
  commit: Store['commit'];
  threads: Pick<Store['threads'], 'get' | 'lineageOf' | 'put' | 'remove' | 'partitionsWith'>;
  transcripts: Pick<Store['transcripts'], 'removeAll'>;
  messages: Pick<Store['messages'], 'last' | 'range' | 'append'>;
  retractions: Pick<Store['retractions'], 'put'>;
  stopped: Pick<Store['stopped'], 'put' | 'removeFrom'>;
  removals: Pick<Store['removals'], 'begin'>;
  pending: Pick<Store['pending'], 'of' | 'put' | 'remove' | 'removeAll'>;
  runs: Pick<Store['runs'], 'waitingOf' | 'put'>;
  dispatches: Pick<Store['dispatches'], 'put'>;
  deadlines: Pick<Store['deadlines'], 'put' | 'remove'>;
  awaiting: Pick<Store['awaiting'], 'put' | 'remove'>;
  driven: Pick<Store['driven'], 'put' | 'remove'>;
  tickets: Store['tickets'];
  state: Pick<Store['state'], 'get' | 'put' | 'remove'>;
  files: Pick<Store['files'], 'removeThread'>;
  pastStates: Pick<Store['pastStates'], 'at' | 'put'>;
  events: Pick<Store['events'], 'last' | 'append'>;
  idempotency: Pick<Store['idempotency'], 'put'>;
};

/** Dependencies and commit listeners of a ledger. */
export type LedgerDeps = {
  store: LedgerStore;
  clock: Clock;
  ids: Ids;
  /** Without it, no event is logged. */
  events: EventListener | undefined;
  /** Without it, no follower outside the runtime is notified of runs. */
  runs: RunWatch | undefined;
  /** Without it, no trace is written. */
  traces: Pick<RunTraces, 'ended'> | undefined;
  /** Without it, nothing is stored about the ends of legs. */
  legs: LegBook | undefined;
  observe: Pick<RuntimeObserver, 'mailbox' | 'runs'>;
  /** Called for a run record with which a commit is about to start the run. */
  onStarting(batch: Batch, run: RunRecord): void;
  /** Without it, decisions are not recorded in the access log. */
  recordAccess?: RuntimeDeps['recordAccess'];
  /** Called for every run record that a commit has written. */
  onStored(run: RunRecord): void;
  /** Called when a run of the thread is done, or its end is being committed. */
  onRunDone(run_id: string): void;
  /** Called for every run record that a commit is about to write. */
  onRunWritten(after: RunRecord, before: RunRecord | undefined, commit: RunCommit): void;
  /** Called once when a commit fails; the ledger is unusable afterwards. */
  onFailure(error: unknown): void;
  /** Called when the last commit in progress has ended. */
  onQuiet(): void;
  /** Called when a commit listener has failed. The commit is durable nevertheless. */
  onListenerError(error: unknown): void;
};

const nothing = (): void => {};

/** Listeners of a ledger whose commits are not followed. */
export const UNFOLLOWED = {
  onStarting: nothing,
  onStored: nothing,
  onRunDone: nothing,
  onRunWritten: nothing,
  onFailure: nothing,
  onQuiet: nothing,
  onListenerError: nothing,
} as const satisfies Partial<LedgerDeps>;

export type PersistedRow = Omit<PersistedState, 'runHidden'> & {
  runs: Record<string, PersistedState['runHidden']>;
};

/** Notifications about a commit for followers of runs; sent once it and all earlier commits are durable. */
export type PendingNotification = { readonly runs: TimedRun[]; durable: boolean };

/** Returns the run of a commit that is not durable yet, or whose followers were not notified yet. */
export const runUnderWay = ({ unnotified }: Ledger, run_id: string): RunRecord | undefined => {
  for (let at = unnotified.length - 1; at >= 0; at -= 1) {
    const found = unnotified[at]?.runs.findLast(({ run }) => run.run_id === run_id);
    if (found) return found.run;
  }
  return undefined;
};

/** The last message of a history: its number, and the count of client-visible messages and bytes up to it. */
export type Tail = { seq: number; external: number; bytes?: number };

/** Written by `write.ts`, and read by all other modules. */
export type Ledger = {
  readonly deps: LedgerDeps;
  readonly scope: string;
  readonly id: string;
  /** The place of its batches. */
  readonly place: BatchPlace;
  /** The record of the newest write; `committed` is the record of the last put. */
  record: ThreadRecord | undefined;
  committed: ThreadRecord | undefined;
  epoch: number;
  /**
   * The time of the newest write in milliseconds. Times of a thread never decrease, although the wall clock may be set
   * back: the order in the queue and the pointers to runs depend on them.
   */
  writtenAt: number;
  /** All messages, committed or about to be, oldest first, with placeholders (`rewind.ts`); loaded on first use. */
  history: Message[] | undefined;
  /** Set while `history-loading.ts` reads the history. */
  loading: Promise<void> | undefined;
  /** Ids of all messages in the history; loaded on first use. */
  known: Set<string> | undefined;
  tail: Tail;
  /** Sequence number of the last event. */
  lastEvent: number;
  /** Pending messages for the history, in their order. */
  pending: readonly PendingMessage[];
  kept: PersistedRow | undefined;
  /** The state of the thread that `past_states` has last, as far as this process has written it. */
  savedState: PastState | undefined;
  /** Tickets issued since the last time without a commit in progress. */
  readonly issuing: Issuing;
  /** Runs that were accepted here and have not started; the store may not contain them yet. */
  readonly created: Map<string, RunRecord>;
  /** Runs that wait for a decision, input or tasks. */
  readonly waiting: Map<string, RunRecord>;
  /** Number of commits in progress. */
  underWay: number;
  /** Whether a commit has failed. */
  broken: boolean;
  /** Notifications that were not sent yet, in the order of the commits. */
  unnotified: PendingNotification[];
  whenQuiet: (() => void)[];
};

export const NO_MESSAGES: Tail = { seq: 0, external: 0, bytes: 0 };

export const createLedger = (deps: LedgerDeps, scope: string, id: string): Ledger => {
  const { store } = deps;
  const record = store.threads.get(scope, id);
  return {
    deps,
    scope,
    id,
    place: { scope, thread_id: id },
    record,
    committed: record,
    epoch: record?.epoch ?? 0,
    writtenAt: record?.thread.metadata.updated_at ?? 0,
    history: undefined,
    loading: undefined,
    known: undefined,
    // A thread without a record has no messages and no waiting runs.
    tail: (record && store.messages.last(scope, id)) ?? NO_MESSAGES,
    lastEvent: store.events.last(scope, id),
    pending: record ? store.pending.of(scope, id) : [],
    kept: undefined,
    savedState: undefined,
    issuing: newIssuing(),
    created: new Map(),
    waiting: new Map(
      record ? store.runs.waitingOf(scope, id).map((run) => [run.run_id, run] as const) : undefined,
    ),
    underWay: 0,
    broken: false,
    unnotified: [],
    whenQuiet: [],
  };
};

/** Reads the history before the first append, since rows of a commit in progress cannot be read yet. */
export const historyOf = (ledger: Ledger): Message[] => {
  const { deps, scope, id, tail } = ledger;
  ledger.history ??=
    tail.seq === 0
      ? []
      : applyRewinds(Array.from(deps.store.messages.range(scope, id, {}), (row) => row.message));
  return ledger.history;
};

/** Whether the history or the pending messages contain a message with this id. */
export const hasMessage = (ledger: Ledger, message_id: string): boolean => {
  ledger.known ??= new Set(historyOf(ledger).map((message) => message.id));
  return ledger.known.has(message_id) || ledger.pending.some(({ message }) => message.id === message_id);
};

export const persistedRow = (ledger: Ledger): PersistedRow => {
  const { deps, scope, id, record } = ledger;
  // Only `persistState` writes this row.
  const stored = record && (deps.store.state.get(scope, id) as PersistedRow | undefined);
  ledger.kept ??= stored ?? { thread: {}, threadHidden: {}, runs: {} };
  return ledger.kept;
};

/** Returns the state of the thread, and the hidden state of the run. */
export const keptFor = (ledger: Ledger, run_id: string): PersistedState => {
  const { thread, threadHidden, runs } = persistedRow(ledger);
  return { thread, threadHidden, runHidden: runs[run_id] ?? {} };
};

/** Returns the run that new input continues: the open run, if it waits. */
export const openRunOf = ({ record, waiting }: Ledger): RunRecord | undefined => {
  const open = record?.thread.open_run_id ?? record?.thread.latest_run_id;
  return open === undefined ? undefined : waiting.get(open);
};

/** Resolves when no commit is in progress, whether the commits succeeded or not. */
export const quiet = async (ledger: Ledger): Promise<void> => {
  while (ledger.underWay > 0) await new Promise<void>((resolve) => ledger.whenQuiet.push(resolve));
};
