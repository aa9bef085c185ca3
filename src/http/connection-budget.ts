import { readFileSync } from 'node:fs';

/**
 * Limits the number of open connections of a listener. A process without free descriptors can neither accept nor refuse
 * connections, and its listener polls without a pause; so new connections are closed before that.
 *
 * Guarantees: a reserve of descriptors remains for the store, providers and files.
 * Cost: one addition per connection.
 */
export type ConnectionBudget = {
  /** Returns false when the budget is used up and the connection must be closed. */
  opened(): boolean;
  closed(): void;
};

const RESERVE = 64;
const RESERVED_SHARE = 0.1;

/** Minimum time between two reports of closed connections: one a minute. */
const QUIET_MS = 60_000;

/** @param report receives the budget when a connection is closed, at most once a minute */
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

/**
 * Returns the connection limit of this process; infinite where the system reports none (`/proc` exists on Linux only).
 */
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
