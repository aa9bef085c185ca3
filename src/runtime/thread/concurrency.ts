/**
 * Limits the number of concurrent runs; further threads wait for a slot in the order of their arrival. Threads that a
 * budget prevents from starting are passed by others.
 *
 * Guarantees: at most `limit` threads hold a slot; a thread is queued at most once; a thread that gets a slot and
 * starts nothing frees it for the next one. A thread continues with its own queued work only while no thread is
 * waiting. Runs that tool calls drive need no slot: they would wait for the one that their parent holds.
 * Cost: two numbers per run while no thread is waiting; a waiting thread is one entry here and needs no actor.
 */

export type Slots = {
  readonly limit: number;
  /** Starts the queued work of the thread. Never rejects. */
  readonly start: (scope: string, thread_id: string) => Promise<void>;
  readonly waiting: Map<string, Waiting>;
  /** Threads that have a slot and have not started yet. */
  readonly assigned: Set<string>;
  taken: number;
  isAssigning: boolean;
};

type ThreadName = { scope: string; thread_id: string };

/** `mayStart`: whether something else than the slots prevents the thread from starting; others pass it then. */
type Waiting = ThreadName & { mayStart(): boolean };

export type Slot = {
  readonly slots: Slots;
  readonly key: string;
  readonly thread: ThreadName;
  holds: boolean;
};

/** Number of slots assigned per event-loop tick: each starts a run. */
const SLOTS_A_TICK = 64;

export const createSlots = (limit: number, start: Slots['start']): Slots => ({
  limit,
  start,
  waiting: new Map(),
  assigned: new Set(),
  taken: 0,
  isAssigning: false,
});

export const slotOf = (slots: Slots, scope: string, thread_id: string): Slot => ({
  slots,
  key: `${scope}\0${thread_id}`,
  thread: { scope, thread_id },
  holds: false,
});

/** Returns the number of threads waiting for a slot. */
export const waitingForSlot = ({ waiting }: Slots): number => waiting.size;

/** Whether a run of the thread may start: a slot is free and no other thread waits, or one is assigned to the thread. */
export const isSlotFree = ({ slots, key, holds }: Slot): boolean =>
  slots.assigned.has(key) || (slots.waiting.size === 0 && (holds || slots.taken < slots.limit));

export const takeSlot = (slot: Slot): void => {
  if (slot.holds) return;
  slot.holds = true;
  if (!slot.slots.assigned.delete(slot.key)) slot.slots.taken += 1;
};

export const releaseSlot = (slot: Slot): void => {
  if (!slot.holds) return;
  slot.holds = false;
  slot.slots.taken -= 1;
  assignNext(slot.slots);
};

const ALWAYS = (): boolean => true;

/** Queues the thread for a slot; a thread that is queued keeps its position. */
export const waitForSlot = ({ slots, key, thread }: Slot, mayStart = ALWAYS): void => {
  slots.waiting.set(key, { ...thread, mayStart });
  if (slots.taken < slots.limit) assignNext(slots);
};

export const isWaitingForSlot = ({ slots, key }: Slot): boolean => slots.waiting.has(key);

/** Tries the waiting threads again, since one that could not start may have room. */
export const retryWaiting = (slots: Slots): void => assignNext(slots);

/** Assigns slots after the current event-loop tick: a thread that frees its slot may reuse it for other work. */
const assignNext = (slots: Slots): void => {
  if (slots.isAssigning || slots.waiting.size === 0) return;
  slots.isAssigning = true;
  setImmediate(() => {
    slots.isAssigning = false;
    let left = SLOTS_A_TICK;
    for (const [key, thread] of slots.waiting) {
      if (slots.taken >= slots.limit) return;
      if (!thread.mayStart()) continue;
      if (left === 0) return assignNext(slots);
      left -= 1;
      assign(slots, key, thread);
    }
  });
};

const assign = async (slots: Slots, key: string, { scope, thread_id }: ThreadName): Promise<void> => {
  slots.waiting.delete(key);
  slots.assigned.add(key);
  slots.taken += 1;
  await slots.start(scope, thread_id);
  if (!slots.assigned.delete(key)) return;
  slots.taken -= 1;
  assignNext(slots);
};
