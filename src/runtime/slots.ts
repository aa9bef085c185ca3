/**
 * How many runs execute at once, and the threads that wait for their turn, in the order in which they came.
 *
 * Guarantees: at most `limit` threads hold a slot; a thread stands in line once; one whose turn has come and that
 * starts nothing after all makes room for the next. A thread goes on with queued work of its own only while nobody
 * stands in line. Runs that tool calls drive take no slot: they would wait for one that their parent holds.
 * Costs two numbers a run while nobody waits; a thread in line is a row here and needs no actor.
 */

/** The slot of one thread. */
export type Slot = {
  /** May a run of the thread begin? False while others stand in line, unless its turn has come. */
  isFree(): boolean;
  take(): void;
  giveBack(): void;
  /** Its turn comes. */
  lineUp(): void;
  isInLine(): boolean;
};

export type Slots = {
  of(scope: string, thread_id: string): Slot;
  /** Threads that wait for their turn. */
  inLine(): number;
};

type Turn = { scope: string; thread_id: string };

/** Turns given in one turn of the event loop: each begins a run. */
const AT_ONCE = 64;

export const createSlots = (
  limit: number,
  /** Lets the thread start what it has queued. Never rejects. */
  start: (scope: string, thread_id: string) => Promise<void>,
): Slots => {
  const line = new Map<string, Turn>();
  /** Threads whose turn has come and that have not started yet; each has a slot already. */
  const called = new Set<string>();
  let taken = 0;
  let isCalling = false;

  const call = async (key: string, { scope, thread_id }: Turn): Promise<void> => {
    line.delete(key);
    called.add(key);
    taken += 1;
    await start(scope, thread_id);
    if (!called.delete(key)) return;
    taken -= 1;
    callNext();
  };

  /** Behind the events of this turn of the loop: who gives a slot back may take it again for other work. */
  const callNext = (): void => {
    if (isCalling || line.size === 0) return;
    isCalling = true;
    setImmediate(() => {
      isCalling = false;
      let left = AT_ONCE;
      for (const [key, turn] of line) {
        if (taken >= limit) return;
        if (left === 0) return callNext();
        left -= 1;
        call(key, turn);
      }
    });
  };

  return {
    of(scope, thread_id) {
      const key = `${scope}\0${thread_id}`;
      let holds = false;
      return {
        isFree: () => called.has(key) || (line.size === 0 && (holds || taken < limit)),
        take() {
          if (holds) return;
          holds = true;
          if (!called.delete(key)) taken += 1;
        },
        giveBack() {
          if (!holds) return;
          holds = false;
          taken -= 1;
          callNext();
        },
        lineUp() {
          if (!line.has(key)) line.set(key, { scope, thread_id });
          if (taken < limit) callNext();
        },
        isInLine: () => line.has(key),
      };
    },
    inLine: () => line.size,
  };
};
