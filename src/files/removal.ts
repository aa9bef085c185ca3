import type { FileDeps } from './deps.ts';

/**
 * Removes expired files, and blobs that no file names.
 *
 * Guarantees: a blob whose row is being committed stays; so does every blob while a backup
 * is being made. Only an unnamed blob that was written before the grace period is removed.
 * Relies on one process for a folder.
 * Cost: a timer, and a list of the folder each hour.
 */
export type Removal = {
  /** Removes the blob after the grace period, unless a file names it then. */
  later(sha256: string): void;
  /** Keeps the blob until the returned function is called, after the commit of its row. */
  keep(sha256: string): () => void;
  start(): void;
  stop(): void;
};

const ROUND_MS = 1000;
const SWEEP_MS = 3_600_000;
const EXPIRY_MS = 30_000;
/** Files that one commit removes. */
const MOST_AT_ONCE = 100;
/** Blobs beyond these are removed by the next sweep of the folder. */
const MOST_DUE = 100_000;

export const createRemoval = (deps: FileDeps): Removal => {
  const { store, blobs, clock, settings, log } = deps;
  const graceMs = settings.grace_secs * 1000;
  /** When to remove, by content. */
  const due = new Map<string, number>();
  const kept = createKept();
  const timers: NodeJS.Timeout[] = [];

  const later = (sha256: string): void => {
    if (due.size < MOST_DUE) due.set(sha256, clock.now() + graceMs);
  };

  /** Returns whether nothing remains to be done for the blob. */
  const remove = (sha256: string, writtenBefore: number): boolean => {
    if (store.files.hasBlob(sha256)) return true;
    if (kept.has(sha256)) return false;
    const isThere = blobs.has(sha256);
    const isDone = blobs.remove(sha256, writtenBefore);
    if (isThere && !blobs.has(sha256)) deps.observe.blobsRemoved(1);
    return isDone;
  };

  const round = (): void => {
    const now = clock.now();
    for (const [sha256, at] of due) if (at <= now && remove(sha256, Date.now())) due.delete(sha256);
  };

  const sweep = async (): Promise<void> => {
    for await (const sha256 of blobs.names()) remove(sha256, Date.now() - graceMs);
  };

  /** A failure must not end the timer. */
  const guarded = (work: () => void | Promise<void>) => async (): Promise<void> => {
    try {
      await work();
    } catch (err) {
      log.warn('files.sweep_failed', { err });
    }
  };

  return {
    later,
    keep(sha256) {
      const release = kept.add(sha256);
      return () => {
        release();
        // The commit may have failed.
        if (!store.files.hasBlob(sha256)) later(sha256);
      };
    },
    start() {
      const sweeping = guarded(sweep);
      void sweeping();
      timers.push(
        setInterval(guarded(round), ROUND_MS).unref(),
        setInterval(
          guarded(() => expire(deps, later)),
          EXPIRY_MS,
        ).unref(),
        setInterval(sweeping, SWEEP_MS).unref(),
      );
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
};

/** Contents of uploads whose rows are being committed. */
const createKept = () => {
  const held = new Map<string, number>();
  return {
    has: (sha256: string): boolean => held.has(sha256),
    add(sha256: string): () => void {
      held.set(sha256, (held.get(sha256) ?? 0) + 1);
      return () => {
        const left = (held.get(sha256) ?? 1) - 1;
        if (left > 0) held.set(sha256, left);
        else held.delete(sha256);
      };
    },
  };
};

/** Removes the rows of expired files. */
const expire = async ({ store, clock }: FileDeps, later: Removal['later']): Promise<void> => {
  for (;;) {
    const expired = store.files.expiredBefore(clock.now(), MOST_AT_ONCE);
    if (expired.length === 0) return;
    const batch = store.batch('commons');
    for (const row of expired) store.files.remove(batch, row);
    await store.commit(batch);
    for (const { sha256 } of expired) later(sha256);
  }
};
