import type { KeptState } from '../loop/state.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { Message } from '../schema/message.ts';
import type { PendingMessage } from '../schema/pending.ts';
import type { Run } from '../schema/run.ts';
import type { Batch, Store, ThreadRecord, TimedRun } from '../store/index.ts';
import type { EventListener, RunTraces, RuntimeObserver, RunWatch } from './deps.ts';
import { type Issuing, newIssuing } from './issuing.ts';
import { applyRewinds } from './rewind.ts';

/**
 * The rows of one thread: its record, the end of its history and the end of its event log in memory. `write.ts` is
 * the only writer of them.
 *
 * Guarantees: the memory is ahead of the store by exactly the commits that are under way, in order; after a commit
 * that failed the ledger is broken and refuses everything, so that nobody decides on rows that do not exist. Relies
 * on being the only ledger of its thread in the process.
 * Costs what is written: the history is read once, at its first use, and appended to after that. A long one is
 * read in windows before the first request that needs it (`history-loading.ts`).
 */

/** What a ledger needs of a store: all of it, or what `unstored.ts` has in its place. */
export type LedgerStore = {
  batch(): Batch;
  commit: Store['commit'];
  threads: Pick<Store['threads'], 'get' | 'put' | 'remove'>;
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
  events: Pick<Store['events'], 'last' | 'append'>;
};

/** Whoever is told of the commits of a ledger. */
export type LedgerDeps = {
  store: LedgerStore;
  clock: Clock;
  ids: Ids;
  /** Without, no event is logged. */
  events: EventListener | undefined;
  /** Without, nobody follows runs from outside. */
  runs: RunWatch | undefined;
  /** Without, no trace is written. */
  traces: Pick<RunTraces, 'ended'> | undefined;
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

const nothing = (): void => {};

/** The listeners of a ledger whose commits have no follower. */
export const UNFOLLOWED = {
  onStored: nothing,
  onRunDone: nothing,
  onRunWritten: nothing,
  onFailure: nothing,
  onQuiet: nothing,
  onDeafListener: nothing,
} as const satisfies Partial<LedgerDeps>;

export type KeptRow = Omit<KeptState, 'runHidden'> & { runs: Record<string, KeptState['runHidden']> };

/** What followers of runs are told of a commit, once it and those before it are durable. */
export type Told = { readonly runs: TimedRun[]; durable: boolean };

/** As a commit has it that is not durable yet, or of which nobody was told yet. */
export const runUnderWay = ({ untold }: Ledger, run_id: string): Run | undefined => {
  for (let at = untold.length - 1; at >= 0; at -= 1) {
    const found = untold[at]?.runs.findLast(({ run }) => run.run_id === run_id);
    if (found) return found.run;
  }
  return undefined;
};

/** The last message of a history: its number, how many up to it are for clients, and the bytes of all up to it. */
export type Tail = { seq: number; external: number; bytes?: number };

/** Written by `write.ts`, read by everybody. */
export type Ledger = {
  readonly deps: LedgerDeps;
  readonly scope: string;
  readonly id: string;
  /** As the newest write has it; `committed` is what the last put of it was. */
  record: ThreadRecord | undefined;
  committed: ThreadRecord | undefined;
  epoch: number;
  /**
   * Milliseconds of the newest write. Times of a thread never run backwards: order in the queue and the pointers to
   * runs are decided by them, and the wall clock may be set back.
   */
  writtenAt: number;
  /** Everything committed or about to be, oldest first, with stand-ins (`rewind.ts`); once somebody has asked for it. */
  history: Message[] | undefined;
  /** While `history-loading.ts` reads the history. */
  loading: Promise<void> | undefined;
  /** Ids of the history, once somebody has asked for one. */
  known: Set<string> | undefined;
  tail: Tail;
  /** Sequence number of the last event. */
  lastEvent: number;
  /** Messages that wait to join the history, in their order. */
  pending: readonly PendingMessage[];
  kept: KeptRow | undefined;
  /** Tickets that were issued since no commit was under way. */
  readonly issuing: Issuing;
  /** Runs that were accepted here and have not begun; the store may not have them yet. */
  readonly created: Map<string, Run>;
  /** Runs that wait for a decision, input or tasks. */
  readonly waiting: Map<string, Run>;
  /** Commits under way. */
  underWay: number;
  /** A commit has failed. */
  broken: boolean;
  /** In the order of the commits. */
  untold: Told[];
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
    record,
    committed: record,
    epoch: record?.epoch ?? 0,
    writtenAt: record?.thread.metadata.updated_at ?? 0,
    history: undefined,
    loading: undefined,
    known: undefined,
    // A thread that is not there has no messages, and nothing of it waits.
    tail: (record && store.messages.last(scope, id)) ?? NO_MESSAGES,
    lastEvent: store.events.last(scope, id),
    pending: record ? store.pending.of(scope, id) : [],
    kept: undefined,
    issuing: newIssuing(),
    created: new Map(),
    waiting: new Map(
      record ? store.runs.waitingOf(scope, id).map((run) => [run.run_id, run] as const) : undefined,
    ),
    underWay: 0,
    broken: false,
    untold: [],
    whenQuiet: [],
  };
};

/** Read before the first append: rows of a commit under way cannot be read yet. */
export const historyOf = (ledger: Ledger): Message[] => {
  const { deps, scope, id, tail } = ledger;
  ledger.history ??=
    tail.seq === 0
      ? []
      : applyRewinds(Array.from(deps.store.messages.range(scope, id, {}), (row) => row.message));
  return ledger.history;
};

/** Is there a message of this id in the history, or does one wait to join it? */
export const hasMessage = (ledger: Ledger, message_id: string): boolean => {
  ledger.known ??= new Set(historyOf(ledger).map((message) => message.id));
  return ledger.known.has(message_id) || ledger.pending.some(({ message }) => message.id === message_id);
};

export const keptRow = (ledger: Ledger): KeptRow => {
  const { deps, scope, id, record } = ledger;
  // Only `keepState` writes this row.
  const stored = record && (deps.store.state.get(scope, id) as KeptRow | undefined);
  ledger.kept ??= stored ?? { thread: {}, threadHidden: {}, runs: {} };
  return ledger.kept;
};

/** State of the thread, and hidden state of the run. */
export const keptFor = (ledger: Ledger, run_id: string): KeptState => {
  const { thread, threadHidden, runs } = keptRow(ledger);
  return { thread, threadHidden, runHidden: runs[run_id] ?? {} };
};

/** The run that new input continues: the open one, if it waits. */
export const openRunOf = ({ record, waiting }: Ledger): Run | undefined => {
  const open = record?.thread.open_run_id ?? record?.thread.latest_run_id;
  return open === undefined ? undefined : waiting.get(open);
};

/** Resolves when no commit is under way, whether they succeeded or not. */
export const quiet = async (ledger: Ledger): Promise<void> => {
  while (ledger.underWay > 0) await new Promise<void>((resolve) => ledger.whenQuiet.push(resolve));
};
