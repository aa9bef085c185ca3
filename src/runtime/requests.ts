import type { Accepted, DecisionTarget, Submission } from './submission.ts';
import type { TaskEvent } from './tasks.ts';
import type { Ticket } from './wait.ts';

/** What the actor of a thread is asked: each comes with an event of its machine, and is answered once. */

export type ChildStrategy = 'detach' | 'reject' | 'cascade';

export type Refusable = { refuse(error: unknown): void };

export type Input = Submission & Refusable & { accept(accepted: Accepted): void };
export type Decision = Refusable & { ticket: Ticket; target: DecisionTarget; accept(): void };
export type Cancel = Refusable & { run_id: string; done(reached: boolean): void };
export type Interrupt = Refusable & { done(superseded: number): void };
export type TaskTold = Refusable & TaskEvent & { accept(): void };
export type Removal = Refusable & { strategy: ChildStrategy; done(): void };
