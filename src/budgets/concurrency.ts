import type { BudgetSubject } from '../schema/budget.ts';
import type { Rate } from './rates.ts';

/**
 * Numbers of runs that execute and that are queued, by the combinations of the budgets that limit them.
 *
 * Guarantees: what was begun or queued is counted until its end, by the entries that applied at its start.
 * Cost: without such a budget, the length of an empty list.
 */
export type Concurrency = {
  /** Whether a budget limits concurrent runs. */
  limitsRuns(): boolean;
  /** Whether another run of this subject may execute. */
  hasRoom(subject: BudgetSubject): boolean;
  /** Counts an executing run until the returned function is called. */
  begin(subject: BudgetSubject): () => void;
  /** Calls the listener when a run that waits may have room; it must not throw. */
  onRoom(listener: () => void): void;
  /** Whether a budget limits queued runs. */
  limitsQueue(): boolean;
  addQueued(dispatch_id: string, subject: BudgetSubject): void;
  /** Has no effect for a dispatch that is not counted. */
  removeQueued(dispatch_id: string): void;
};

export type Numbers = {
  /** Returns a matching limit that leaves no room. */
  full(subject: BudgetSubject): Rate | undefined;
  add(subject: BudgetSubject): () => void;
};

/** @param ratesOf returns the limits of now that match */
export const createNumbers = (ratesOf: (subject: BudgetSubject) => readonly Rate[]): Numbers => {
  const numbers = new Map<string, number>();
  const countIn = (name: string): number => numbers.get(name) ?? 0;
  return {
    full: (subject) => ratesOf(subject).find((rate) => countIn(nameOf(rate, subject)) >= rate.limit),
    add(subject) {
      const names = ratesOf(subject).map((rate) => nameOf(rate, subject));
      for (const name of names) numbers.set(name, countIn(name) + 1);
      let isCounted = true;
      return () => {
        if (!isCounted) return;
        isCounted = false;
        for (const name of names) {
          const left = countIn(name) - 1;
          if (left > 0) numbers.set(name, left);
          else numbers.delete(name);
        }
      };
    },
  };
};

const nameOf = ({ budget: { spec, identity, combinationOf } }: Rate, subject: BudgetSubject): string =>
  `${spec.id}\0${identity}\0${combinationOf(subject)}`;

export type ConcurrencyLimits = {
  concurrent(subject: BudgetSubject): readonly Rate[];
  queued(subject: BudgetSubject): readonly Rate[];
  limitsRuns(): boolean;
  limitsQueue(): boolean;
};

export const createConcurrency = ({
  concurrent,
  queued,
  limitsRuns,
  limitsQueue,
}: ConcurrencyLimits): Concurrency & { fullQueue: Numbers['full']; notifyRoom(): void } => {
  const executing = createNumbers(concurrent);
  const waiting = createNumbers(queued);
  const inQueue = new Map<string, () => void>();
  let listeners: (() => void)[] = [];
  const notifyRoom = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    limitsRuns,
    limitsQueue,
    notifyRoom,
    hasRoom: (subject) => executing.full(subject) === undefined,
    begin(subject) {
      const end = executing.add(subject);
      return () => {
        end();
        notifyRoom();
      };
    },
    onRoom(listener) {
      listeners = [...listeners, listener];
    },
    fullQueue: waiting.full,
    addQueued(dispatch_id, subject) {
      if (!limitsQueue() || inQueue.has(dispatch_id)) return;
      inQueue.set(dispatch_id, waiting.add(subject));
    },
    removeQueued(dispatch_id) {
      inQueue.get(dispatch_id)?.();
      inQueue.delete(dispatch_id);
    },
  };
};
