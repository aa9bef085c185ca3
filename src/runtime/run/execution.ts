import type { Actor } from 'xstate';
import type { RunEnded } from '../../../machines/dispatch.ts';
import type { runMachine } from '../../../machines/run.ts';
import type { RunEntry } from '../../../machines/run-types.ts';
import { turnMark } from '../../loop/state.ts';
import type { Turn } from '../../loop/turn.ts';
import type { Dispatch } from '../../schema/dispatch.ts';
import type { PendingMessage } from '../../schema/pending.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { RunAccount, RuntimeDeps, RunUsage, ThreadName, TraceWriter } from '../deps.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Write } from '../ledger/transaction.ts';
import type { Channel } from './live-channel.ts';
import { startOf } from './outcome.ts';
import type { LoggedStream } from './stream.ts';
import { beginTurn } from './turn.ts';

/**
 * One execution of one run in this process: the actor of the run machine, the data of its services, and the requests
 * that other modules can make. The services are in `run/commit-steps.ts`, their writes in `run/record.ts`.
 */

export type Execution = {
  readonly deps: RuntimeDeps;
  readonly owner: RunOwner;
  readonly ledger: Ledger;
  readonly run_id: string;
  readonly stream: LoggedStream;
  readonly turn: Turn;
  /** Set while the run is observed. */
  trace: TraceWriter | undefined;
  /** Set from the first inference to which budgets may apply. */
  account: RunAccount | undefined;
  /** Set from its first inference on. */
  usage: RunUsage | undefined;
  /** The state of the run before: not started, interrupted by a crash, or waiting. */
  readonly from: 'created' | 'running' | 'waiting';
  /** The epoch of the thread when the work was accepted. */
  readonly epoch: number;
  readonly startedAt: number;
  /** The run record to write next; `stored` is the last committed one. */
  run: RunRecord;
  stored: RunRecord;
  /** Claimed by this process. A run that a tool call drives, or that is not stored, has none. */
  dispatch: Dispatch | undefined;
  /** The entry state of the machine. */
  entry: RunEntry;
  actor: Actor<typeof runMachine> | undefined;
  /** Reports the end of the actor to its listeners. */
  reportEnd: () => void;
  failure: unknown;
  /** How the run leaves its dispatch; set with its end. */
  end: RunEnded;
  /** Why the service releases the run. */
  released: string | undefined;
  /** Whether the readers of the channel have already received a `run_start`. */
  isAnnounced: boolean;
  /** Whether another writer has stored the end of the run. */
  dropped: boolean;
  /** Whether the run is counted as executing. */
  counted: boolean;
  /** Ids of the tickets that the log already contains, joined by line feeds. */
  reported: string;
};

/** The owner of a run, and its notifications. */
export type RunOwner = {
  /** Whether its runs are counted and their ends logged. */
  readonly isObserved: boolean;
  /** Whether its commits reach the store. */
  readonly isStored: boolean;
  /** The thread that the run works for. */
  readonly thread?: ThreadName;
  /** A change made by the run is durable. */
  progressed(): void;
  /** The run waits, and nothing executes. */
  suspended(execution: Execution): void;
  /** Called once, when the run has ended or was released. */
  settled(execution: Execution, how: 'ended' | 'released'): void;
  /** Called before `settled`, when the run was released and its stream has not ended. */
  streamReleased(execution: Execution, channel: Channel): void;
  /** Input that this run no longer accepts becomes separate work, or history. */
  requeueUnconsumed(execution: Execution, write: Write, entries: readonly PendingMessage[]): void;
  /** Returns the public text of a failure. */
  publicReason(reason: string): string;
};

/**
 * Starts the events of a run, or of the continuation of a wait. New input that continues the run starts another turn.
 */
export const beginStream = (execution: Execution, afterWait: boolean): void => {
  const { turn, stream } = execution;
  if (afterWait && turn.hasInput()) beginTurn(turn);
  const mark = turnMark(turn.state);
  const start = startOf(execution.run);
  if (mark) start.turn_id = mark.turn_id;
  if (execution.isAnnounced) stream.log(start);
  else stream.emit(start);
  execution.isAnnounced = false;
};

/** The correlation id of all events of this execution. */
export const correlationOf = ({ dispatch, run_id }: Execution): string => dispatch?.dispatch_id ?? run_id;

/** Updates the count of executing runs. A waiting run is not counted. */
export const count = (execution: Execution, executes: boolean): void => {
  if (execution.counted === executes || !execution.owner.isObserved) return;
  execution.counted = executes;
  execution.deps.observe.runs.executing(executes ? 1 : -1);
};

/** The reason in stream events when a run continues from its last commit. */
export const RESUMED = 'resumed from checkpoint';
