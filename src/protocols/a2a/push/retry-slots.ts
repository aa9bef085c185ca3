/**
 * Limits retries of failed notifications per receiver host.
 *
 * Many configs may name one receiver, each with its own attempts. So that a failing receiver is not sent a multiple of
 * the events, the retries to one host share a budget: `BURST` at once, then one every `INTERVAL_MS`, until a delivery
 * succeeds. First attempts are never delayed, so a client cannot block the notifications of others by letting a shared
 * host fail.
 */
export type RetrySlots = {
  /** Reserves a slot and returns the time in milliseconds at which a due retry may be sent. */
  take(url: string, due: number): number;
  delivered(url: string): void;
};

export const BURST = 10;
export const INTERVAL_MS = 10_000;
const MOST_HOSTS = 10_000;

export const createRetrySlots = (): RetrySlots => {
  /** Time at which the budget of a host is full again; ordered by last use, latest last. */
  const wholeAt = new Map<string, number>();
  return {
    take(url, due) {
      const host = hostOf(url);
      const whole = wholeAt.get(host) ?? 0;
      const at = Math.max(due, whole - (BURST - 1) * INTERVAL_MS);
      wholeAt.delete(host);
      wholeAt.set(host, Math.max(whole, at) + INTERVAL_MS);
      const [oldest] = wholeAt.keys();
      if (wholeAt.size > MOST_HOSTS && oldest !== undefined) wholeAt.delete(oldest);
      return at;
    },
    delivered: (url) => void wholeAt.delete(hostOf(url)),
  };
};

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
