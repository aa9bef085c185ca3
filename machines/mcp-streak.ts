/** The recent results of one kind of request. Times are in milliseconds. */
export type McpStreak = {
  failures: number;
  lastError: string | null;
  /** Time of the last failure, to determine which of the two streaks failed last. */
  failedAt: number;
  lastAttemptAt: number | null;
  lastSuccessAt: number | null;
};

export const FRESH: McpStreak = {
  failures: 0,
  lastError: null,
  failedAt: 0,
  lastAttemptAt: null,
  lastSuccessAt: null,
};

export const succeeded = (now: number): McpStreak => ({ ...FRESH, lastAttemptAt: now, lastSuccessAt: now });

export const failed = (before: McpStreak, now: number, error: string): McpStreak => ({
  failures: before.failures + 1,
  lastError: error,
  failedAt: now,
  lastAttemptAt: now,
  lastSuccessAt: before.lastSuccessAt,
});

/** Resets the failures; the times of attempts stay. */
export const forgiven = (before: McpStreak): McpStreak => ({ ...before, failures: 0, lastError: null });
