import type { Execution } from './execution.ts';
import type { Write } from './ledger.ts';
import type { Slot } from './slots.ts';
import { isStandIn } from './stand-in.ts';

/**
 * Who has a thread: what executes, and what waits here for a decision without executing; never the same. What
 * executes has the slot of the thread, which the next run may take over from it.
 */
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
  /** Nothing follows what executed last: its slot is for another thread. */
  vacate(): void;
  /** Resolves when nothing executes. */
  vacant(): Promise<void>;
};

export const createOccupancy = (slot: Slot): Occupancy => {
  let active: Execution | undefined;
  let held: Execution | undefined;
  let whenVacant: (() => void)[] = [];
  const tellVacant = (): void => {
    const told = whenVacant;
    whenVacant = [];
    for (const resolve of told) resolve();
  };
  const takeSlot = (execution: Execution): void => {
    // One that a tool call drives executes in the slot of its parent.
    if (!isStandIn(execution.dispatch())) slot.take();
  };
  return {
    get active() {
      return active;
    },
    get held() {
      return held;
    },
    begin(execution) {
      active = execution;
      takeSlot(execution);
    },
    park(execution) {
      active = undefined;
      held = execution;
      tellVacant();
    },
    unpark() {
      active = held;
      held = undefined;
      if (active) takeSlot(active);
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
      tellVacant();
    },
    vacate() {
      if (!active) slot.giveBack();
    },
    vacant: () =>
      new Promise((resolve) => {
        if (active) whenVacant.push(resolve);
        else resolve();
      }),
  };
};
