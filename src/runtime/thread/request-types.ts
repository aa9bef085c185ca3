import type { Accept } from '../../schema/idempotency.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { TaskEvent } from '../delegation/task-list.ts';
import type { Attach } from '../run/live-channel.ts';
import type { Accepted, Submission } from './submission.ts';
import type { Decided } from './tickets.ts';

/** Requests to the actor of a thread: each is part of an event of its machine, and is settled once. */

export type ChildStrategy = 'detach' | 'reject' | 'cascade';

export type Refusable = { refuse(error: unknown): void };

export type Input = Submission &
  Refusable & {
    /** The accepted decisions. */
    decided: readonly Decided[];
    /** The waiting run that the input continues; undefined for input that starts a run. */
    continues: RunRecord | undefined;
    accept(accepted: Accepted): void;
  };
export type Decision = Refusable & {
  decided: Decided;
  attach?: Attach | undefined;
  keyed: Accept<void> | undefined;
  accept(): void;
};
export type Cancel = Refusable & { run_id: string; done(reached: boolean): void };
export type Interrupt = Refusable & { done(superseded: number): void };
/** `into`: the run of the event, as for input that is for one run only. */
export type TaskUpdate = Refusable & TaskEvent & { into: string; accept(): void };
/** `isErased`: no event about the deletion is logged, because the log is deleted too. */
export type Removal = Refusable & { strategy: ChildStrategy; isErased: boolean; done(): void };

/** The request that each event of the thread machine carries. */
export type Requests = {
  input: Input;
  decision: Decision;
  taskEvent: TaskUpdate;
  cancel: Cancel;
  interrupt: Interrupt;
  removal: Removal;
};
