import type { Unavailable } from '../schema/outcome.ts';

/**
 * Whether the folder takes writes.
 *
 * The committer reports how each transaction ended, so while commits succeed nothing here costs anything. When one
 * fails, this writes a row of its own, at growing intervals, until a transaction succeeds again: those who wait for
 * space need not try themselves. That row is about as long as what failed, since a short one finds room between the
 * others where nothing else does. A transaction that readers see and the disk did not confirm is different: pages
 * that the kernel could not write are not written by a later flush, although that succeeds, so nothing is written
 * on top of them, and only a new start ends that state.
 */

export type Writability = {
  /** The last transaction succeeded, or there was none yet. */
  readonly writable: boolean;
  /** Why nothing may be written any more. */
  readonly unconfirmed: Unavailable | undefined;
  succeeded(): void;
  /** Nothing of the transaction is there; `bytes` is about what it would have written. */
  failed(bytes: number): void;
  /** Readers see the transaction, and the disk did not confirm it. */
  notConfirmed(reason: Unavailable): void;
  /** Calls once each time that a transaction succeeds after others failed. Returns what ends that. */
  onRecovered(listener: () => void): () => void;
  /** Resolves when a transaction succeeded a moment ago, or does now. @throws what the transaction was refused with */
  check(): Promise<void>;
  close(): void;
};

/** A success says this long that the folder takes writes; milliseconds. */
const FRESH_MS = 1000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2000;
const LONGEST_PROBE = 2 ** 20;

/** `write` commits a row of so many bytes, over the one before. */
export const createWritability = (write: (bytes: number) => Promise<void>): Writability => {
  const listeners = new Set<() => void>();
  let failures = 0;
  let missing = 0;
  let succeededAt = Number.NEGATIVE_INFINITY;
  let unconfirmed: Unavailable | undefined;
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
      // What it was refused with came in through `failed`, which sets the next timer.
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
      // Not in the way of those whose commit it was; and by then its flush may have failed.
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
