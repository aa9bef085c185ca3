import type { AnyActorRef } from 'xstate';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { RunTrace } from '../loop/trace-fact.ts';
import type { LoopObserver } from '../loop/turn.ts';
import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { DispatchStatus, RunOutcome } from '../schema/dispatch.ts';
import type { ContentBlock } from '../schema/message.ts';
import type { Run } from '../schema/run.ts';
import type { EvaluationResult } from '../schema/trace.ts';
import type { Batch, Store } from '../store/index.ts';
import type { CaptureMode } from './capture.ts';
import type { Channel } from './channel.ts';

/** What the runtime is given. Nothing in this room reads the clock, makes an id or counts a metric by itself. */

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
  /** 0 keeps them for ever */
  event_retention_days: number;
};

/** Counts and times; must not throw. Durations are seconds. */
export type RuntimeObserver = LoopObserver & {
  runs: {
    /** One more executes, or one less. */
    executing(delta: 1 | -1): void;
    /** The dispatch of a run that was executed has finished. */
    ended(outcome: RunOutcome, seconds: number): void;
    /** A dispatch has finished that nobody ever claimed. */
    dismissed(outcome: RunOutcome): void;
    /** A run has ended, so long after it began. */
    sessionEnded(seconds: number): void;
  };
  /** The state of a background task is not durable yet. */
  taskCommitFailed(operation: string): void;
  mailbox: {
    /** A dispatch is there, or has another status. */
    moved(to: DispatchStatus, from: DispatchStatus | undefined): void;
    /** `seconds`: until it was durable, or known to fail. */
    operation(operation: string, result: 'ok' | 'error', seconds: number, times?: number): void;
    started(seconds: { enqueueToStart: number; eligibleToStart: number; claimToStart: number }): void;
    completed(outcome: RunOutcome, seconds: { enqueueToComplete: number; runtime: number }): void;
  };
};

export type RuntimeLog = {
  info(data: object, text: string): void;
  warn(data: object, text: string): void;
  error(data: object, text: string): void;
};

/** Told of what has become visible in the event log of a thread; must not throw. Costs one call a commit. */
export type EventListener = {
  appended(scope: string, thread_id: string, from_seq: number, events: readonly LoggedEvent[]): void;
};

/**
 * Told of runs for those who follow them from outside; must not throw. A record is told when it is durable, in the
 * order of the commits of its thread; `changed_at` is when its state as a task changed last, in milliseconds.
 */
export type RunWatch = {
  /**
   * A stream of its events begins; nothing has gone into it. `said` is the answer under way as far as it
   * has come, for whoever joins in the middle of it.
   */
  began(scope: string, run_id: string, channel: Channel, said: () => readonly ContentBlock[]): void;
  /** The stream that began last is over. */
  ended(scope: string, run_id: string): void;
  stored(scope: string, run: Run, changed_at: number): void;
};

/** As `WorksFor` of the inspection. */
export type ThreadName = { machine: 'thread'; id: string };

/**
 * Told of every actor that begins, and of the thread that it works for; must not throw. What it returns is called
 * once, when the actor is gone.
 */
export type ActorListener = { began(actor: AnyActorRef, scope: string, of?: ThreadName): () => void };

/** Writes what the loop notes into the commits that a run makes anyway. */
export type TraceWriter = RunTrace & {
  /** Of a run that goes on at once, or of one that goes on later, here or in another process. */
  write(batch: Batch, goesOn: 'now' | 'later'): void;
  /** Another execution goes on from the last commit. */
  leave(batch: Batch): void;
  /** The run has ended with this batch, and this is how. */
  end(batch: Batch, run: Run): void;
  /** Nobody notes anything any more. */
  close(): void;
};

export type RunTraces = {
  observes(agent: ResolvedAgent): boolean;
  /** Goes on with the trace that the run has. */
  open(run: Run): TraceWriter;
  /** A run that nothing executes has ended with this batch. */
  ended(batch: Batch, run_id: string, run: Run): void;
};

/** Who is told of the runs of one replay of an evaluation, besides whoever counts for it. */
export type ReplaySpans = {
  readonly runs: RunTraces;
  /** The replay is over. What a judge says of its last answer is said of the inference that gave it. */
  settle(verdict?: EvaluationResult): void;
};

export type RuntimeDeps = {
  store: Store;
  /** Without, no event is logged. */
  events: EventListener | undefined;
  /** Without, no trace is written. */
  traces?: RunTraces | undefined;
  /** Without, nobody follows runs from outside. */
  runs?: RunWatch | undefined;
  /** The reader of a run that is claimed from the store while no client of this process reads it. */
  resumed?: ((scope: string, run: Run) => ((channel: Channel) => void) | undefined) | undefined;
  actors: ActorListener;
  clock: Clock;
  ids: Ids;
  settings: RuntimeSettings;
  observe: RuntimeObserver;
  log: RuntimeLog;
  /**
   * The agent as the current registry snapshot has it, or as the one of a run had it.
   * @throws Invalid `agent not found: <id>`, or that there is no such snapshot
   */
  resolve(agentId: string, resolution_id?: string): ResolvedAgent;
  /** Names this process in `claimed_by`. */
  worker: string;
};
