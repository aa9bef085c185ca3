import { createBlobs } from '../files/blobs.ts';
import { createFiles, type Files } from '../files/files.ts';
import type { FileReader } from '../models/file-input.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics/metrics.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { Settings } from '../settings/index.ts';
import type { Store } from '../store/index.ts';

type Parts = { store: Store; clock: Clock; ids: Ids; settings: Settings; metrics: Metrics; log: Log };

/** Creates the files of the service, whose bytes are in the folder of the store. */
export const openFiles = ({ store, clock, ids, settings, metrics, log }: Parts): Files => {
  const blobs = createBlobs(store.blobs, ids.uuid);
  // No commit of this process has begun.
  blobs.prepare();
  return createFiles({
    store,
    blobs,
    clock,
    ids,
    settings: settings.files,
    publicUrl: settings.public_url,
    observe: metrics.files,
    log,
  });
};

/** The port through which models read files. */
export const createFileReader = (files: Files): FileReader => ({
  async read(id) {
    const row = files.get(id);
    return row && (await files.bytesOf(row))?.toString('base64');
  },
});
