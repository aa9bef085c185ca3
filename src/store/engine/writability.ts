import type { Outcome } from '../../schema/outcome.ts';

/**
 * Tracks whether the folder accepts writes.
 *
 * The committer reports the result of each transaction, so there is no cost while commits succeed. After a failure,
 * this module writes a probe row, at growing intervals, until a transaction succeeds again: callers that wait for space
 * need not retry themselves. The probe is about as long as the failed writes, since a short row may fit where they do
 * not. A transaction that readers see and the disk did not confirm is different: pages that the kernel could not write
 * are not written by a later flush, although that succeeds, so nothing is written on top of them, and only a restart
 * ends that state.
 */

export type Writability = {
  /** Whether the last transaction succeeded, or there was none yet. */
  readonly writable: boolean;
  /** Why no further writes are allowed. */
  readonly unconfirmed: Outcome | undefined;
  succeeded(): void;
  /** The transaction was not written; `bytes` is the approximate size of its writes. */
  failed(bytes: number): void;
  /** Readers see the transaction, and the disk did not confirm it; or this process has lost the data to another one. */
  notConfirmed(reason: Outcome): void;
  /** Calls the listener each time that a transaction succeeds after failures. The returned function removes it. */
  onRecovered(listener: () => void): () => void;
  /**
   * Resolves when a transaction succeeded recently, or succeeds now. @throws the error that rejected the transaction
   */
  check(): Promise<void>;
  close(): void;
};

/** How long a success proves that the folder accepts writes, in milliseconds. */
const FRESH_MS = 1000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2000;
const LONGEST_PROBE = 2 ** 20;

/** `write` commits a row of this size, replacing the previous one. */
export const createWritability = (write: (bytes: number) => Promise<void>): Writability => {
  const listeners = new Set<() => void>();
  let failures = 0;
  let missing = 0;
  let succeededAt = Number.NEGATIVE_INFINITY;
  let unconfirmed: Outcome | undefined;
  let retry: NodeJS.Timeout | undefined;
  let probing: Promise<void> | undefined;
  let closed = false;

  const probe = (): Promise<void> => {
    probing ??= write(Math.min(missing, LONGEST_PROBE)).finally(() => {
      probing = undefined;
    });
    return probing;
  };

  const retryLater = (): void => {
    if (retry || closed || unconfirmed) return;
    const delay = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
    retry = setTimeout(() => {
      retry = undefined;
      // The error was reported through `failed`, which sets the next timer.
      probe().catch(() => {});
    }, delay).unref();
  };

  const stopRetrying = (): void => {
    clearTimeout(retry);
    retry = undefined;
  };

  return {
    get writable() {
      return failures === 0 && unconfirmed === undefined;
    },
    get unconfirmed() {
      return unconfirmed;
    },
    succeeded() {
      succeededAt = performance.now();
      if (failures === 0) return;
      failures = 0;
      missing = 0;
      stopRetrying();
      // Deferred, so that listeners do not delay the callers of the commit; its flush may have failed by then.
      setImmediate(() => {
        if (!unconfirmed) for (const listener of [...listeners]) listener();
      });
    },
    failed(bytes) {
      failures += 1;
      missing = Math.max(missing, bytes);
      retryLater();
    },
    notConfirmed(reason) {
      unconfirmed ??= reason;
      stopRetrying();
    },
    onRecovered(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async check() {
      if (unconfirmed) throw unconfirmed;
      if (failures > 0 || performance.now() - succeededAt > FRESH_MS) await probe();
    },
    close() {
      closed = true;
      stopRetrying();
      listeners.clear();
    },
  };
};
