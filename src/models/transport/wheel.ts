import { timerMs } from '../../schema/timer.ts';

/**
 * Deadlines of calls to providers: connecting, the first byte, gaps between events.
 *
 * Guarantees: a deadline never expires early. Node runs timers before it reads sockets, so the sockets are read once
 * between the timer and the expiry. If the timer itself ran late, the process was stalled (a stopped process, a
 * suspended host, a blocked event loop), and every deadline that passed in that time gets another second. No timer
 * remains when there is no deadline.
 * Cost: one timer for all deadlines, set again only when the earliest one changes; a heap, so that adding or removing
 * one of N takes log N steps. The monotonic clock is used because durations are measured, not points in time.
 */
export type Deadline = {
  expire(): void;
  /** Owned by the wheel. */
  due: number;
  /** Position in the heap; -1 outside. Owned by the wheel. */
  place: number;
};

export type Wheel = {
  now(): number;
  /** Sets or moves a deadline. */
  set(deadline: Deadline, ms: number): void;
  /** Has no effect on a deadline that is not set. */
  remove(deadline: Deadline): void;
};

/** A timer that is later than this shows that the process was stalled. */
const STANDSTILL_MS = 1000;
const GRACE_MS = 1000;

export const deadline = (expire: () => void): Deadline => ({ expire, due: 0, place: -1 });

export const createWheel = (now: () => number = () => performance.now()): Wheel => {
  const heap: Deadline[] = [];
  let timer: NodeJS.Timeout | undefined;
  let unread: NodeJS.Immediate | undefined;
  /** The time at which the timer fires; undefined without a timer, and while passed deadlines are about to expire. */
  let firesAt: number | undefined;
  let expiring = false;

  const arm = (): void => {
    const [first] = heap;
    if (expiring || !first || (firesAt !== undefined && firesAt <= first.due)) return;
    clearTimeout(timer);
    const waits = timerMs(Math.max(0, first.due - now()));
    firesAt = now() + waits;
    timer = setTimeout(fire, waits);
  };
  const disarm = (): void => {
    clearTimeout(timer);
    clearImmediate(unread);
    timer = undefined;
    unread = undefined;
    firesAt = undefined;
    expiring = false;
  };
  const fire = (): void => {
    const late = now() - (firesAt ?? 0);
    firesAt = undefined;
    expiring = (heap[0]?.due ?? Number.POSITIVE_INFINITY) <= now();
    if (!expiring) arm();
    else if (late > STANDSTILL_MS) timer = setTimeout(expire, GRACE_MS);
    else unread = setImmediate(expire);
  };
  const expire = (): void => {
    const until = now();
    try {
      for (let first = heap[0]; first && first.due <= until; first = heap[0]) {
        removeAt(heap, 0);
        first.expire();
      }
    } finally {
      expiring = false;
      arm();
    }
  };
  return {
    now,
    set(item, ms) {
      if (item.place >= 0) removeAt(heap, item.place);
      item.due = now() + ms;
      item.place = heap.length;
      heap.push(item);
      rise(heap, item);
      arm();
    },
    remove(item) {
      if (item.place < 0) return;
      removeAt(heap, item.place);
      if (heap.length === 0) disarm();
    },
  };
};

/** The deadlines of all providers. */
export const WHEEL = createWheel();

const removeAt = (heap: Deadline[], place: number): void => {
  const removed = heap[place];
  const last = heap.pop();
  if (removed) removed.place = -1;
  if (!last || last === removed) return;
  heap[place] = last;
  last.place = place;
  sink(heap, last);
  rise(heap, last);
};

const rise = (heap: Deadline[], item: Deadline): void => {
  while (item.place > 0) {
    const parent = heap[(item.place - 1) >> 1];
    if (!parent || parent.due <= item.due) return;
    swap(heap, parent, item);
  }
};

const sink = (heap: Deadline[], item: Deadline): void => {
  for (;;) {
    const left = heap[2 * item.place + 1];
    const right = heap[2 * item.place + 2];
    const child = right && left && right.due < left.due ? right : left;
    if (!child || child.due >= item.due) return;
    swap(heap, item, child);
  }
};

/** `upper` is the parent of `lower`. */
const swap = (heap: Deadline[], upper: Deadline, lower: Deadline): void => {
  const { place } = upper;
  heap[place] = lower;
  heap[lower.place] = upper;
  upper.place = lower.place;
  lower.place = place;
};
