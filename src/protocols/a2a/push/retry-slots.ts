/**
 * When a notification that failed may be sent again, by the host of its receiver.
 *
 * Many configs may name one receiver, and each of them has attempts of its own. So that a receiver that fails is not
 * sent a multiple of what happened, the repetitions to one host share a budget: `BURST` at once, then one every
 * `INTERVAL_MS`, until something is delivered there. First attempts are never held back, so one client cannot keep the
 * notifications of others away by letting a shared host fail.
 */
export type RetrySlots = {
  /** The time at which a repetition that is due may be sent; milliseconds. The slot is taken. */
  take(url: string, due: number): number;
  delivered(url: string): void;
};

export const BURST = 10;
export const INTERVAL_MS = 10_000;
const MOST_HOSTS = 10_000;

export const createRetrySlots = (): RetrySlots => {
  /** When the budget of a host is whole again; the one that was used last is the last. */
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
