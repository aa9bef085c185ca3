import { type Clock, monotonic } from '../../schema/clock.ts';
import { Unavailable } from '../../schema/outcome.ts';
import type { FetchKeys } from './fetch-keys.ts';
import type { PublicKey } from './public-keys.ts';

/**
 * The current keys of an issuer (identity.md 2.3).
 *
 * Guarantees: keys are fetched at their first use, every 10 minutes while they are used, and for an unknown key id; at
 * most once in 30 s, including failed attempts, and one fetch at a time. A failed fetch changes nothing. Known keys are
 * used until `staleMs` after the last successful fetch, and only requests whose key is unknown wait for a fetch.
 */
export type KeySource = {
  /**
   * Returns the known keys, unless they are too old, and starts a fetch if one is due. The array is replaced when a key
   * is added, changed or removed, and only then.
   */
  current(): readonly PublicKey[] | undefined;
  /**
   * Returns the keys with the id, or all keys if the token names none, after a fetch if there are none.
   * @throws Unavailable while the keys of the issuer cannot be fetched
   */
  find(keyId: string | undefined): Promise<Found>;
};

/** Matching keys, and all of the same time, as `current` returns them. */
type Found = { matching: readonly PublicKey[]; all: readonly PublicKey[] };

const REFRESH_MS = 600_000;
const PAUSE_MS = 30_000;

type Deps = {
  id: string;
  clock: Clock;
  fetchKeys: FetchKeys;
  staleMs: number;
  /** Called after each fetch, with the error of a failed one. */
  fetched(error: Error | undefined): void;
};

export const createKeySource = ({ id, clock, fetchKeys, staleMs, fetched }: Deps): KeySource => {
  const refreshMs = Math.min(REFRESH_MS, staleMs / 2);
  let known: { keys: readonly PublicKey[]; text: string; at: number } | undefined;
  let tried = { at: Number.NEGATIVE_INFINITY, failed: false };
  let fetching: Promise<void> | undefined;

  const fetch = async (): Promise<void> => {
    tried = { at: monotonic(clock), failed: false };
    try {
      const keys = await fetchKeys();
      const text = JSON.stringify(keys);
      known = { keys: known?.text === text ? known.keys : keys, text, at: monotonic(clock) };
      fetched(undefined);
    } catch (error) {
      tried.failed = true;
      fetched(error instanceof Error ? error : new Error(String(error)));
    } finally {
      fetching = undefined;
    }
  };

  /** Joins a fetch in progress, or starts one unless the last was too recent. Never rejects. */
  const refresh = async (): Promise<void> => {
    if (!fetching && monotonic(clock) - tried.at >= PAUSE_MS) fetching = fetch();
    await fetching;
  };

  const current = (): readonly PublicKey[] | undefined => {
    if (!known) return undefined;
    const age = monotonic(clock) - known.at;
    if (age >= refreshMs) void refresh();
    return age <= staleMs ? known.keys : undefined;
  };

  return {
    current,
    async find(keyId) {
      const before = current();
      const found = before && matching(before, keyId);
      if (found && found.matching.length > 0) return found;
      await refresh();
      const after = current();
      const now = after && matching(after, keyId);
      if (now && (now.matching.length > 0 || !tried.failed)) return now;
      throw new Unavailable(`cannot verify tokens of '${id}' now`, { retryAfterSecs: PAUSE_MS / 1000 });
    },
  };
};

/** Keys of the settings: they never change, and need no network. */
export const fixedKeys = (keys: readonly PublicKey[]): KeySource => ({
  current: () => keys,
  find: async (keyId) => matching(keys, keyId),
});

const matching = (all: readonly PublicKey[], keyId: string | undefined): Found => ({
  matching: all.filter(({ kid }) => keyId === undefined || kid === keyId),
  all,
});
