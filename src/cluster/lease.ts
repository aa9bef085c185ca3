/**
 * The lease of a membership, as its owner counts it (cluster.md 5.4).
 *
 * Guarantees: by the monotonic clock of this process, the lease is over 0.9 TTL after the last renewal that succeeded was
 * *sent*, so that no observer, which counts a whole TTL from a later moment, ends it before. Callers of `check` never
 * act on a lease that has passed, also behind a pause of the event loop: `over` is emitted before it returns.
 * Relies on renewals that time out. Cost: two timers, one statement each third of the TTL.
 */
export type LeaseEvent =
  | 'renewed'
  /** A renewal has no answer. */
  | 'failed'
  /** The lease may be over. A later renewal can still succeed. */
  | 'over'
  /** The database has ended the membership. */
  | 'fenced';

export type LeaseOptions = {
  ttlMs: number;
  /** When the statement that began the membership was sent, by the monotonic clock. */
  begunAt: number;
  monotonic(): number;
  /** Returns false when the membership has ended. Rejects without an answer. */
  renew(): Promise<boolean>;
  happened(event: LeaseEvent): void;
};

export type Lease = {
  /** Emits `over` when the time has come. Returns whether the lease lasts. */
  check(): boolean;
  /** Milliseconds until it is over. */
  remainingMs(): number;
  /** Since when all renewals have succeeded, by the monotonic clock; undefined behind a failure. */
  soundSince(): number | undefined;
  /** Renews now instead of at the next interval. */
  renew(): void;
  stop(): void;
};

const TRUSTED_SHARE = 0.9;
const RENEWALS = 3;
/** Attempts behind a failure. */
const RETRIES = 20;

type State = LeaseOptions & {
  renewedAt: number;
  soundSince: number | undefined;
  isOver: boolean;
  isRenewing: boolean;
  isStopped: boolean;
  renewal: NodeJS.Timeout | undefined;
  end: NodeJS.Timeout | undefined;
};

export const createLease = (options: LeaseOptions): Lease => {
  const { begunAt, ttlMs } = options;
  const state: State = {
    ...options,
    renewedAt: begunAt,
    soundSince: begunAt,
    isOver: false,
    isRenewing: false,
    isStopped: false,
    renewal: undefined,
    end: undefined,
  };
  awaitEnd(state);
  renewIn(state, ttlMs / RENEWALS);
  return {
    check: () => check(state),
    remainingMs: () => Math.max(0, remainingMs(state)),
    soundSince: () => state.soundSince,
    renew() {
      if (!state.isRenewing) renewIn(state, 0);
    },
    stop: () => stop(state),
  };
};

const remainingMs = ({ renewedAt, ttlMs, monotonic }: State): number =>
  renewedAt + ttlMs * TRUSTED_SHARE - monotonic();

const check = (state: State): boolean => {
  const lasts = remainingMs(state) > 0;
  if (!lasts && !state.isOver && !state.isStopped) {
    state.isOver = true;
    state.happened('over');
  }
  return lasts;
};

/** A timer may fire early, by another clock. */
const awaitEnd = (state: State): void => {
  clearTimeout(state.end);
  if (state.isStopped) return;
  state.end = setTimeout(
    () => {
      if (check(state)) awaitEnd(state);
    },
    Math.max(1, remainingMs(state)),
  );
};

const renewIn = (state: State, ms: number): void => {
  clearTimeout(state.renewal);
  if (!state.isStopped) state.renewal = setTimeout(() => void renew(state), Math.max(0, ms));
};

const renew = async (state: State): Promise<void> => {
  const { ttlMs, monotonic, happened } = state;
  const sentAt = monotonic();
  state.isRenewing = true;
  const isKept = await state.renew().catch(() => undefined);
  state.isRenewing = false;
  if (state.isStopped) return;
  if (isKept === undefined) {
    state.soundSince = undefined;
    check(state);
    happened('failed');
    return renewIn(state, ttlMs / RETRIES);
  }
  if (!isKept) {
    stop(state);
    return happened('fenced');
  }
  succeed(state, sentAt);
  renewIn(state, sentAt + ttlMs / RENEWALS - monotonic());
};

/** An answer that was read late may be of a lease that is over. */
const succeed = (state: State, sentAt: number): void => {
  const hadPause = sentAt - state.renewedAt > state.ttlMs * TRUSTED_SHARE;
  if (hadPause || state.soundSince === undefined) state.soundSince = sentAt;
  state.renewedAt = sentAt;
  if (!check(state)) return;
  state.isOver = false;
  awaitEnd(state);
  state.happened('renewed');
};

const stop = (state: State): void => {
  state.isStopped = true;
  clearTimeout(state.renewal);
  clearTimeout(state.end);
};
