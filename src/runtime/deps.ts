import type { AnyActorRef } from 'xstate';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { RunTrace } from '../loop/trace-fact.ts';
import type { LoopObserver } from '../loop/turn.ts';
import type { AccessDraft } from '../schema/access-event.ts';
import type { Leg } from '../schema/activation.ts';
import type { Actor } from '../schema/actor.ts';
import type { BudgetRaise, BudgetSubject, ReachedLimit } from '../schema/budget.ts';
import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { DispatchStatus, RunOutcome } from '../schema/dispatch.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { ContentBlock, Message } from '../schema/message.ts';
import type { Run, Termination } from '../schema/run.ts';
import type { RunRecord } from '../schema/run-state.ts';
import type { Account, BudgetNotice, Payer } from '../schema/spending.ts';
import type { EvaluationResult } from '../schema/trace.ts';
import type { UsageNote } from '../schema/usage.ts';
import type { Batch, Store } from '../store/index.ts';
import type { ToolFiles } from '../tools/tool-files.ts';
import type { CaptureMode } from './run/capture.ts';
import type { Channel } from './run/live-channel.ts';

/** Dependencies of the runtime. No module here reads the clock, creates an id or counts a metric on its own. */

export type RuntimeSettings = {
  mailbox: {
    lease_ms: number;
    suspended_lease_ms: number;
    lease_renewal_ms: number;
    lease_sweep_interval_ms: number;
    lease_sweep_batch: number;
    gc_interval_secs: number;
    gc_retention_secs: number;
    max_attempts: number;
    retry_base_ms: number;
    retry_cap_ms: number;
  };
  models: { outage_wait_ms: number };
  max_concurrent_runs: number;
  foreground_release_wait_ms: number;
  max_phase_rounds: number;
  thread_limit_bytes: number;
  max_calls_per_step: number;
  max_runs_below_run: number;
  event_capture_mode: CaptureMode;
  /** 0 keeps events forever. */
  event_retention_days: number;
};

/** Receives counts and times; must not throw. Durations are in seconds. */
export type RuntimeObserver = LoopObserver & {
  runs: {
    /** The number of executing runs changed by `delta`. */
    executing(delta: 1 | -1): void;
    /** The dispatch of an executed run has finished. */
    ended(outcome: RunOutcome, seconds: number): void;
    /** A dispatch that was never claimed has finished. */
    dismissed(outcome: RunOutcome): void;
    /** A run has ended; `seconds` since its start. */
    sessionEnded(
      seconds: number,
      run: { agent: string; run_id: string; termination: Termination['type'] },
    ): void;
  };
  threads: {
    forked(): void;
  };
  /** The state of a background task is not durable yet. */
  taskCommitFailed(operation: string): void;
  mailbox: {
    /** A dispatch was created, or its status changed. */
    moved(to: DispatchStatus, from: DispatchStatus | undefined): void;
    /** `seconds` until the operation was durable, or had failed. */
    operation(operation: string, result: 'ok' | 'error', seconds: number, times?: number): void;
    started(seconds: { enqueueToStart: number; eligibleToStart: number; claimToStart: number }): void;
    completed(outcome: RunOutcome, seconds: { enqueueToComplete: number; runtime: number }): void;
  };
};

export type RuntimeLog = Pick<ServiceLog, 'info' | 'warn' | 'error'>;

/** Notified of events that became visible in the event log of a thread; must not throw. Cost: one call per commit. */
export type EventListener = {
  appended(scope: string, thread_id: string, from_seq: number, events: readonly LoggedEvent[]): void;
};

/**
 * Notified of runs for followers outside the runtime; must not throw. A record is reported when it is durable, in the
 * order of the commits of its thread; `changed_at` is the time of the last change of its task state, in milliseconds.
 */
export type RunWatch = {
  /**
   * A stream of its events begins; the channel has emitted nothing yet. `said` returns the current answer so far, for
   * followers that join during it.
   */
  began(scope: string, run_id: string, channel: Channel, currentAnswer: () => readonly ContentBlock[]): void;
  /** The last stream has ended. */
  ended(scope: string, run_id: string): void;
  stored(scope: string, run: RunRecord, changed_at: number): void;
};

/** Equal to `WorksFor` of the inspection. */
export type ThreadName = { machine: 'thread'; id: string };

/** A text that was streamed and does not count. */
export type WithdrawnText = {
  /** The message that the text was to become. */
  message_id: string;
  text: string;
  /** The message that was begun next; undefined if that is the same one, or none. */
  before: string | undefined;
};

/** The end of a leg of a run: the run has ended, or waits. */
export type EndedLeg = {
  scope: string;
  run: RunRecord;
  leg: Leg;
  /** Number of the last message of the thread. */
  seq: number;
  history: readonly Message[];
  /** The partial answer of a cancelled run, which is not part of the history. */
  stopped: Message | undefined;
  /** Texts that readers of a stream may have received in addition. */
  withdrawn: readonly WithdrawnText[];
  /** Whether the client that began the leg receives its end. */
  isRead: boolean;
  /** Time of the commit, in milliseconds. */
  at: number;
};

/** Adds what an adapter stores about its clients to the commit that ends a leg; must not throw. */
export type LegBook = { ended(batch: Batch, leg: EndedLeg): void };

/**
 * Notified of every actor that starts, and of the thread that it works for; must not throw. The returned function is
 * called once, when the actor has ended.
 */
export type ActorListener = { began(actor: AnyActorRef, scope: string, of?: ThreadName): () => void };

/** Writes the notes of the loop into the commits that a run makes anyway. */
export type TraceWriter = RunTrace & {
  /** Writes the notes of a run that continues immediately (`now`), or later, here or in another process (`later`). */
  write(batch: Batch, continues: 'now' | 'later'): void;
  /** Another execution continues from the last commit. */
  leave(batch: Batch): void;
  /** The run ends with this batch. */
  end(batch: Batch, run: Run): void;
  /** No further notes will follow. */
  close(): void;
};

export type RunTraces = {
  observes(agent: ResolvedAgent): boolean;
  /** Continues the trace of the run. */
  open(run: Run): TraceWriter;
  /** A run without an execution ends with this batch. */
  ended(batch: Batch, run_id: string, run: Run): void;
};

/** Traces of the runs of one replay of an evaluation, in addition to their regular counts. */
export type ReplaySpans = {
  readonly runs: RunTraces;
  /** The replay is over. The verdict on its last answer is recorded for the inference that produced it. */
  settle(verdict?: EvaluationResult): void;
};

/** The account of a run, written in the commits that it makes anyway. */
export type RunAccount = Account & {
  /** Adds what was spent since the last commit. */
  write(batch: Batch): void;
  /** The run makes no further commits. */
  close(): void;
};

export type BudgetMeter = {
  /** False while there are no budgets. */
  isActive(): boolean;
  /** `isStored`: whether the commits of the run reach the store; if not, the run cannot wait. `notify` receives what its inferences reach. */
  open(options: { payer: Payer; isStored: boolean; notify(notice: BudgetNotice): void }): RunAccount;
  /** Returns the exhausted limit because of which no new run of this subject may start. */
  exhausted(subject: BudgetSubject, canWait: boolean): ReachedLimit | undefined;
  /** Whether a run that waits for a limit may continue. */
  isOver(wait: ReachedLimit, subject: BudgetSubject): boolean;
  /** Adds an amount to a limit that a run waits for, in the commit of the decision. */
  raise(batch: Batch, raised: { wait: ReachedLimit; subject: BudgetSubject; by: BudgetRaise }): void;
  /** @throws RateLimited if no run of this subject may be added */
  checkRun(subject: BudgetSubject): void;
  /** @throws RateLimited if no run of this subject may be queued */
  checkQueue(subject: BudgetSubject): void;
  /** Whether a budget limits concurrent runs. */
  limitsRuns(): boolean;
  /** Whether another run of this subject may execute. */
  hasRoom(subject: BudgetSubject): boolean;
  /** Counts an executing run until the returned function is called. */
  begin(subject: BudgetSubject): () => void;
  /** Calls the listener when a run that waits may have room. */
  onRoom(listener: () => void): void;
  /** Whether a budget limits queued runs. */
  limitsQueue(): boolean;
  addQueued(dispatch_id: string, subject: BudgetSubject): void;
  /** Has no effect for a dispatch that is not counted. */
  removeQueued(dispatch_id: string): void;
  /** Counts a new run, in the commit that creates it. */
  addRun(batch: Batch, subject: BudgetSubject): void;
};

/** The usage of a run, written in the commits that keep its record. */
export type RunUsage = {
  note(note: UsageNote): void;
  /** Adds what was noted since the last commit. */
  write(batch: Batch): void;
  /** The run makes no further commits. */
  close(): void;
};

type UsageOf = Pick<Payer, 'scope' | 'user'>;

export type UsageBook = {
  add(batch: Batch, of: UsageOf, note: UsageNote): void;
  /** `isStored`: whether the commits of the run reach the store. */
  open(options: UsageOf & { isStored: boolean }): RunUsage;
};

/** The commit that writes a record: `seq` is the number of the last message of its history. */
export type RunCommit = { readonly batch: Batch; readonly at: number; readonly seq: number };

/** A record of a run, in a commit that is being written. */
export type WrittenRun = RunCommit & { readonly after: RunRecord; readonly before: RunRecord | undefined };

export type RuntimeDeps = {
  store: Store;
  /** Without it, no event is logged. */
  events: EventListener | undefined;
  /** Without it, no trace is written. */
  traces?: RunTraces | undefined;
  /** Without it, no follower outside the runtime is notified of runs. */
  runs?: RunWatch | undefined;
  /** Adds rows to a commit that writes a run; must not throw. */
  onRunWritten?: ((scope: string, written: WrittenRun) => void) | undefined;
  /** Returns the reader of a run that is claimed from the store while no client of this process reads it. */
  resumed?: ((scope: string, run: Run) => ((channel: Channel) => void) | undefined) | undefined;
  /** Without it, nothing is stored about the ends of legs. */
  legs?: LegBook | undefined;
  /** Without it, nothing is limited. */
  meter?: BudgetMeter | undefined;
  /** Without it, no usage is stored. */
  usage?: UsageBook | undefined;
  /** Adds an event of the access log to a commit; must not throw. Without it, decisions are not recorded. */
  recordAccess?: ((batch: Batch, draft: AccessDraft) => void) | undefined;
  /** Returns whether the author of a decision has the grant to decide now. Without it, every author has. */
  mayDecide?:
    | ((scope: string, author: Actor, call: { agent_id: string; tool: string }) => boolean)
    | undefined;
  /**
   * Accepts references to files of a partition in the content of input. Without it, there are no files.
   *
   * @throws Invalid `file not found: <id>`
   */
  files?: ((partition: string, content: readonly ContentBlock[]) => ContentBlock[]) | undefined;
  /** Returns the files of a partition for tools. Without it, tools have none. */
  toolFiles?: ((partition: string) => ToolFiles) | undefined;
  actors: ActorListener;
  clock: Clock;
  ids: Ids;
  settings: RuntimeSettings;
  observe: RuntimeObserver;
  log: RuntimeLog;
  /**
   * Returns the agent of the current registry snapshot, or of the snapshot that a run has used.
   *
   * @throws Invalid `agent not found: <id>`, or that the snapshot does not exist
   */
  resolve(agentId: string, resolution_id?: string): ResolvedAgent;
  /** Identifies this process in `claimed_by`. */
  worker: string;
};
