import { readFileSync } from 'node:fs';

/**
 * How many connections a listener may have open. Once a process has no free descriptor, its listener can neither accept
 * nor refuse a connection and asks the system again without a pause, so new connections are closed before that.
 *
 * Guarantees: a reserve of descriptors stays for the store, providers and files.
 * Costs: one addition a connection.
 */
export type ConnectionBudget = {
  /** False: the connection is to be closed, because the budget is used up. */
  opened(): boolean;
  closed(): void;
};

const RESERVE = 64;
const RESERVED_SHARE = 0.1;

/** At most one line a minute reports closed connections. */
const QUIET_MS = 60_000;

/** @param report is called with the budget when a connection is closed, at most once a minute */
export const createConnectionBudget = (
  most: number,
  report: (most: number) => void,
  now: () => number = () => performance.now(),
): ConnectionBudget => {
  let open = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    opened() {
      open += 1;
      if (open <= most) return true;
      if (now() - reportedAt >= QUIET_MS) {
        reportedAt = now();
        report(most);
      }
      return false;
    },
    closed() {
      open -= 1;
    },
  };
};

/** Of this process; no limit where the system reports none (there is no `/proc` outside of Linux). */
export const mostConnections = (limits: () => string = readLimits): number => {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits()) ?? [];
  if (soft === undefined) return Number.POSITIVE_INFINITY;
  const descriptors = Number(soft);
  return Math.max(1, descriptors - Math.max(RESERVE, Math.ceil(descriptors * RESERVED_SHARE)));
};

const readLimits = (): string => {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return '';
  }
};
