import type { Clock, Ids } from '../schema/clock.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { Store } from '../store/index.ts';
import type { Blobs } from './blobs.ts';

export type FileSettings = {
  enabled: boolean;
  max_bytes: number;
  max_total_bytes: number;
  inline_max_bytes: number;
  default_ttl_secs: number;
  link_ttl_secs: number;
  grace_secs: number;
  max_uploads: number;
  max_uploads_per_user: number;
  upload_timeout_secs: number;
};

export type FileDeps = {
  store: Pick<Store, 'batch' | 'commit' | 'files' | 'idempotency'>;
  blobs: Blobs;
  clock: Clock;
  ids: Ids;
  settings: FileSettings;
  publicUrl: string | undefined;
  observe: FileObserver;
  log: Pick<ServiceLog, 'warn'>;
};

/** Receives counts; must not throw. */
export type FileObserver = {
  uploaded(status: 'stored' | 'too_large' | 'no_room' | 'failed'): void;
  blobsRemoved(count: number): void;
};
