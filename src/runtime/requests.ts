import type { Attach } from './channel.ts';
import type { Accepted, Submission } from './submission.ts';
import type { TaskEvent } from './tasks.ts';
import type { Decided } from './wait.ts';

/** What the actor of a thread is asked: each comes with an event of its machine, and is answered once. */

export type ChildStrategy = 'detach' | 'reject' | 'cascade';

export type Refusable = { refuse(error: unknown): void };

/** `decided`: the decisions that were accepted. */
export type Input = Submission &
  Refusable & { decided: readonly Decided[]; accept(accepted: Accepted): void };
export type Decision = Refusable & { decided: Decided; attach?: Attach | undefined; accept(): void };
export type Cancel = Refusable & { run_id: string; done(reached: boolean): void };
export type Interrupt = Refusable & { done(superseded: number): void };
export type TaskTold = Refusable & TaskEvent & { accept(): void };
export type Removal = Refusable & { strategy: ChildStrategy; done(): void };
