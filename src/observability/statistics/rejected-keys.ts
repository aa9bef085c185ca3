import type { StoredBucket } from '../../store/index.ts';

/**
 * Providers that rejected their keys. An inference that succeeds shows that the key is accepted; other failures show
 * nothing about it.
 *
 * Cost: at most 1000 providers; past that the one whose inference is the oldest is dropped.
 */
export type RejectedKeys = {
  /** Records an ended inference; `error`: the class of its failure. */
  note(provider: string, error: string | undefined, at: number): void;
  /** Records the newest inferences of a persisted bucket, which hide a rejection before another failure. */
  restore(bucket: StoredBucket): void;
  has(provider: string): boolean;
};

const MOST_PROVIDERS = 1000;

export const createRejectedKeys = (): RejectedKeys => {
  const known = new Map<string, { at: number; isRejected: boolean }>();

  const note = (provider: string, error: string | undefined, at: number): void => {
    const isRejected = error === 'unauthorized';
    if ((error !== undefined && !isRejected) || at < (known.get(provider)?.at ?? 0)) return;
    known.delete(provider);
    if (known.size >= MOST_PROVIDERS)
      for (const oldest of [...known.keys()].slice(0, 1)) known.delete(oldest);
    known.set(provider, { at, isRejected });
  };

  return {
    note,
    restore({ models = [] }) {
      for (const { provider_id, last_success_at: success, last_error: error } of models) {
        if (success !== undefined) note(provider_id, undefined, success);
        if (error) note(provider_id, error.class, error.at);
      }
    },
    has: (provider) => known.get(provider)?.isRejected ?? false,
  };
};
