import { createCounter, type Families } from './families.ts';

/** Counts of uploads and of removed bytes. */
export const createFileMetrics = (families: Families) => {
  const uploads = createCounter(families, ['status'], {
    suffix: 'file_uploads_total',
    help: 'Uploads of files: stored, too_large, no_room, failed',
  });
  const removed = createCounter(families, [], {
    suffix: 'blobs_removed_total',
    help: 'Removed contents of deleted files',
  });
  return {
    uploaded(status: 'stored' | 'too_large' | 'no_room' | 'failed') {
      uploads.add(1, status);
    },
    blobsRemoved(count: number) {
      removed.add(count);
    },
  };
};
