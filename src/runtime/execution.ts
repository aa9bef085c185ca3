import type { Actor } from 'xstate';
import type { RunEntry, runMachine } from '../../machines/run.ts';
import { turnMark } from '../loop/state.ts';
import type { Turn } from '../loop/turn.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { PendingMessage } from '../schema/pending.ts';
import type { Run } from '../schema/run.ts';
import type { Channel } from './channel.ts';
import type { RuntimeDeps, ThreadName, TraceWriter } from './deps.ts';
import { startOf } from './ending.ts';
import type { Ledger } from './ledger.ts';
import type { LoggedStream } from './run-stream.ts';
import { beginTurn } from './turn.ts';
import type { Write } from './write.ts';

/**
 * One execution of one run in this process: the actor of the run machine, what its services work on, and what may
 * be asked of it from outside. What the services do is in `run-work.ts`, what they write in `run-record.ts`.
 */

export type Execution = {
  readonly deps: RuntimeDeps;
  readonly owner: RunOwner;
  readonly ledger: Ledger;
  readonly run_id: string;
  readonly stream: LoggedStream;
  readonly turn: Turn;
  /** Of a run that is observed. */
  trace: TraceWriter | undefined;
  /** How the run was before: not begun, interrupted by a crash, or waiting. */
  readonly from: 'created' | 'running' | 'waiting';
  /** Of the thread, when the work was accepted. */
  readonly epoch: number;
  readonly startedAt: number;
  /** As it is to be written next; `stored` is what was written last. */
  run: Run;
  stored: Run;
  /** Claimed by this process; a run that a tool call drives, or that nobody keeps, has none. */
  dispatch: Dispatch | undefined;
  /** Where the machine begins. */
  entry: RunEntry;
  actor: Actor<typeof runMachine> | undefined;
  /** Tells those who watch actors that this one is gone. */
  gone: () => void;
  failure: unknown;
  /** Why the service lets go of it. */
  released: string | undefined;
  /** The readers of the channel had a `run_start` already. */
  isHeard: boolean;
  /** Somebody else has written the end of the run. */
  dropped: boolean;
  /** It counts as one that executes. */
  counted: boolean;
  /** The tickets that readers of the log know of. */
  reported: string;
};

/** Whose run it is, and what it is told. */
export type RunOwner = {
  /** Its runs are counted, and their ends logged. */
  readonly isObserved: boolean;
  /** Whose actor the run works for. */
  readonly thread?: ThreadName;
  /** Something that the run did is durable. */
  progressed(): void;
  /** The run waits, and nothing executes. */
  parked(execution: Execution): void;
  /** Called once, when the run has ended or was let go. */
  settled(execution: Execution, how: 'ended' | 'released'): void;
  /** Called before that, when the run was let go and its stream has not ended. */
  streamLeft(execution: Execution, channel: Channel): void;
  /** Input that this run will not take any more becomes work of its own, or history. */
  leftOver(execution: Execution, write: Write, entries: readonly PendingMessage[]): void;
  /** What readers are told of a failure. */
  worded(reason: string): string;
};

/** New input that continues the run begins another turn of it. */
export const beginStream = (execution: Execution, afterWait: boolean): void => {
  const { turn, stream } = execution;
  if (afterWait && turn.hasInput()) beginTurn(turn);
  const mark = turnMark(turn.state);
  const start = startOf(execution.run);
  if (mark) start.turn_id = mark.turn_id;
  if (execution.isHeard) stream.log(start);
  else stream.emit(start);
  execution.isHeard = false;
};

/** By which the events of its work are found together. */
export const correlationOf = ({ dispatch, run_id }: Execution): string => dispatch?.dispatch_id ?? run_id;

/** A run that waits executes nothing. */
export const count = (execution: Execution, executes: boolean): void => {
  if (execution.counted === executes || !execution.owner.isObserved) return;
  execution.counted = executes;
  execution.deps.observe.runs.executing(executes ? 1 : -1);
};

/** What readers of a stream are told when a run goes on from its last commit. */
export const RESUMED = 'resumed from checkpoint';
