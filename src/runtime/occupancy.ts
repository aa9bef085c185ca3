import type { Execution } from './execution.ts';
import type { Write } from './ledger.ts';
import type { Slot } from './slots.ts';
import { isStandIn } from './stand-in.ts';

/**
 * Who has a thread: what executes, and what waits here for a decision without executing; never the same. What
 * executes has the slot of the thread, which the next run may take over from it.
 *
 * A class, as whatever is made for each thread, run or request and has fields to read: V8 keeps the accessors of an
 * object literal, and all that they close over, until the next full collection.
 */
export class Occupancy {
  #slot: Slot;
  #whenVacant: (() => void)[] = [];
  #active: Execution | undefined;
  #held: Execution | undefined;

  constructor(slot: Slot) {
    this.#slot = slot;
  }

  get active(): Execution | undefined {
    return this.#active;
  }

  get held(): Execution | undefined {
    return this.#held;
  }

  begin(execution: Execution): void {
    this.#active = execution;
    this.#takeSlot(execution);
  }

  /** It waits, and nothing executes. */
  park(execution: Execution): void {
    this.#active = undefined;
    this.#held = execution;
    this.#tellVacant();
  }

  /** What is held executes again. */
  unpark(): Execution | undefined {
    this.#active = this.#held;
    this.#held = undefined;
    if (this.#active) this.#takeSlot(this.#active);
    return this.#active;
  }

  /** Other work takes the thread: the wait goes on without this process. */
  leave(write: Write): void {
    this.#held?.leave(write);
    this.#held = undefined;
  }

  /** Somebody else has written the end of what is held. */
  dropHeld(): void {
    this.#held?.drop();
    this.#held = undefined;
  }

  /** It has ended, or was let go. */
  gone(execution: Execution): void {
    if (this.#active === execution) this.#active = undefined;
    if (this.#held === execution) this.#held = undefined;
    this.#tellVacant();
  }

  /** Nothing follows what executed last: its slot is for another thread. */
  vacate(): void {
    if (!this.#active) this.#slot.giveBack();
  }

  /** Resolves when nothing executes. */
  vacant(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#active) this.#whenVacant.push(resolve);
      else resolve();
    });
  }

  #tellVacant(): void {
    const told = this.#whenVacant;
    this.#whenVacant = [];
    for (const resolve of told) resolve();
  }

  #takeSlot(execution: Execution): void {
    // One that a tool call drives executes in the slot of its parent.
    if (!isStandIn(execution.dispatch())) this.#slot.take();
  }
}
