/**
 * How many runs execute at once, and the threads that wait for their turn, in the order in which they came.
 *
 * Guarantees: at most `limit` threads hold a slot; a thread stands in line once; one whose turn has come and that
 * starts nothing after all makes room for the next. A thread goes on with queued work of its own only while nobody
 * stands in line. Runs that tool calls drive take no slot: they would wait for one that their parent holds.
 * Costs two numbers a run while nobody waits; a thread in line is a row here and needs no actor.
 */

export type Slots = {
  readonly limit: number;
  /** Lets the thread start what it has queued. Never rejects. */
  readonly start: (scope: string, thread_id: string) => Promise<void>;
  readonly line: Map<string, Turn>;
  /** Threads whose turn has come and that have not started yet; each has a slot already. */
  readonly called: Set<string>;
  taken: number;
  isCalling: boolean;
};

type Turn = { scope: string; thread_id: string };

/** The slot of one thread. */
export type Slot = { readonly slots: Slots; readonly key: string; readonly turn: Turn; holds: boolean };

/** Turns given in one turn of the event loop: each begins a run. */
const AT_ONCE = 64;

export const createSlots = (limit: number, start: Slots['start']): Slots => ({
  limit,
  start,
  line: new Map(),
  called: new Set(),
  taken: 0,
  isCalling: false,
});

export const slotOf = (slots: Slots, scope: string, thread_id: string): Slot => ({
  slots,
  key: `${scope}\0${thread_id}`,
  turn: { scope, thread_id },
  holds: false,
});

/** Threads that wait for their turn. */
export const inLine = ({ line }: Slots): number => line.size;

/** May a run of the thread begin? False while others stand in line, unless its turn has come. */
export const isSlotFree = ({ slots, key, holds }: Slot): boolean =>
  slots.called.has(key) || (slots.line.size === 0 && (holds || slots.taken < slots.limit));

export const takeSlot = (slot: Slot): void => {
  if (slot.holds) return;
  slot.holds = true;
  if (!slot.slots.called.delete(slot.key)) slot.slots.taken += 1;
};

export const giveBackSlot = (slot: Slot): void => {
  if (!slot.holds) return;
  slot.holds = false;
  slot.slots.taken -= 1;
  callNext(slot.slots);
};

/** Its turn comes. */
export const lineUp = ({ slots, key, turn }: Slot): void => {
  if (!slots.line.has(key)) slots.line.set(key, turn);
  if (slots.taken < slots.limit) callNext(slots);
};

export const isInLine = ({ slots, key }: Slot): boolean => slots.line.has(key);

/** Behind the events of this turn of the loop: who gives a slot back may take it again for other work. */
const callNext = (slots: Slots): void => {
  if (slots.isCalling || slots.line.size === 0) return;
  slots.isCalling = true;
  setImmediate(() => {
    slots.isCalling = false;
    let left = AT_ONCE;
    for (const [key, turn] of slots.line) {
      if (slots.taken >= slots.limit) return;
      if (left === 0) return callNext(slots);
      left -= 1;
      call(slots, key, turn);
    }
  });
};

const call = async (slots: Slots, key: string, { scope, thread_id }: Turn): Promise<void> => {
  slots.line.delete(key);
  slots.called.add(key);
  slots.taken += 1;
  await slots.start(scope, thread_id);
  if (!slots.called.delete(key)) return;
  slots.taken -= 1;
  callNext(slots);
};
