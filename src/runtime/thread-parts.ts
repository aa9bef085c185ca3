import type { Admission } from './admission.ts';
import type { RuntimeDeps } from './deps.ts';
import type { Ledger, Write } from './ledger.ts';
import type { Occupancy } from './occupancy.ts';
import type { Queue } from './queue.ts';

/** What the groups of actions of one thread actor work on: how work starts, how it waits, how it ends. */
export type ThreadParts = {
  deps: RuntimeDeps;
  scope: string;
  id: string;
  ledger: Ledger;
  queue: Queue;
  admission: Admission;
  occupancy: Occupancy;
  /** A write of now. */
  open(): Write;
  /** For commits that nobody waits for: a failure has already retired the actor. */
  commitInBackground(write: Write): void;
};

/** Queued work that newer work has overtaken, in the words of runtime.md 10.4. */
export const OVERTAKEN = 'queued dispatch superseded by newer dispatch epoch';
export const INTERRUPTED = 'queued dispatch superseded by interrupt';
