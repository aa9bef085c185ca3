import type { Execution } from './execution.ts';
import type { Write } from './ledger.ts';

/** Who has a thread: what executes, and what waits here for a decision without executing; never the same. */
export type Occupancy = {
  readonly active: Execution | undefined;
  readonly held: Execution | undefined;
  begin(execution: Execution): void;
  /** It waits, and nothing executes. */
  park(execution: Execution): void;
  /** What is held executes again. */
  unpark(): Execution | undefined;
  /** Other work takes the thread: the wait goes on without this process. */
  leave(write: Write): void;
  /** Somebody else has written the end of what is held. */
  dropHeld(): void;
  /** It has ended, or was let go. */
  gone(execution: Execution): void;
  /** Resolves when nothing executes. */
  vacant(): Promise<void>;
};

export const createOccupancy = (): Occupancy => {
  let active: Execution | undefined;
  let held: Execution | undefined;
  let whenVacant: (() => void) | undefined;
  return {
    get active() {
      return active;
    },
    get held() {
      return held;
    },
    begin(execution) {
      active = execution;
    },
    park(execution) {
      active = undefined;
      held = execution;
      whenVacant?.();
    },
    unpark() {
      active = held;
      held = undefined;
      return active;
    },
    leave(write) {
      held?.leave(write);
      held = undefined;
    },
    dropHeld() {
      held?.drop();
      held = undefined;
    },
    gone(execution) {
      if (active === execution) active = undefined;
      if (held === execution) held = undefined;
      whenVacant?.();
    },
    vacant: () =>
      new Promise((resolve) => {
        if (active) whenVacant = resolve;
        else resolve();
      }),
  };
};
