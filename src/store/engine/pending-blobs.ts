import type { Batch } from './batch.ts';

/** The contents of batches whose commits have not ended; no row that readers see names them yet. */
export type PendingBlobs = {
  has(sha256: string): boolean;
  add(batch: Batch): void;
  remove(batch: Batch): void;
};

export const createPendingBlobs = (): PendingBlobs => {
  const counts = new Map<string, number>();
  return {
    has: (sha256) => counts.has(sha256),
    add({ blobs }) {
      for (const sha256 of blobs.keys()) counts.set(sha256, (counts.get(sha256) ?? 0) + 1);
    },
    remove({ blobs }) {
      for (const sha256 of blobs.keys()) {
        const left = (counts.get(sha256) ?? 1) - 1;
        if (left > 0) counts.set(sha256, left);
        else counts.delete(sha256);
      }
    },
  };
};
