import { randomUUID } from 'node:crypto';
import type { Breaker, Permit } from './breakers.ts';
import { ModelError, passes } from './errors.ts';
import type { Slot } from './limiter.ts';
import type { InferenceEnd } from './model.ts';
import type { WatchedSink } from './opening.ts';
import { backoffMs, betweenTries, type Pause, type Random, type RetrySettings, spread } from './retry.ts';

/**
 * One call of a model behind its circuit breaker and its concurrency limit.
 *
 * Guarantees: the provider counts as having responded once the first event of its stream arrives, so a stream that
 * breaks later counts as no failure of the model (agent-loop.md 10.1 lists the failures that count). A rate limit
 * counts as no failure either: while other calls of the model are in progress, the call waits and is retried without a
 * limit on attempts. A call that an open circuit blocks waits for up to `patienceMs`; if the circuit stays open for
 * longer, the call fails with an error that is `heldBack` and states when to retry.
 * Cost: nothing per delta.
 */
export type Guard = {
  breaker: Breaker;
  patienceMs: number;
  /** Whether calls wait when the provider limits them. */
  waitsInLine: boolean;
  pause: Pause;
  random: Random;
  /** Longest wait that a provider may request. */
  maxRetryAfterMs: number;
  settings: RetrySettings;
  refusal(): ModelError;
};

export type GuardedCall = {
  /** The calling run; undefined outside of a run. */
  run_id: string | undefined;
  watched: WatchedSink;
  signal: AbortSignal;
};

/** @throws ModelError */
export const callGuarded = async (
  guard: Guard,
  { run_id, watched, signal }: GuardedCall,
  call: () => Promise<InferenceEnd>,
): Promise<InferenceEnd> => {
  for (let refusals = 0; ; refusals += 1) {
    const { slot, permit } = await admitted(guard, signal, refusals > 0);
    const report = createReport(permit);
    watched.onFirst(report.responded);
    try {
      const end = await call();
      slot.end();
      report.responded();
      return end;
    } catch (error) {
      const isLimit = !watched.hasBegun() && isRateLimit(error);
      const repeats = isLimit && slot.refused(retryAfterMs(error)) && waits(guard, error);
      if (!isLimit) slot.end();
      // Outside of a run, each call counts as a separate caller.
      report.failed(run_id ?? randomUUID(), error);
      if (!repeats) throw error;
      const wait_ms = spread(backoffMs(guard.settings, error, refusals), guard.random);
      watched.sink.retrying?.({ error: error.message, wait_ms });
      await guard.pause(wait_ms, signal);
      if (signal.aborted) throw new ModelError('cancelled', '');
    }
  }
};

const waits = ({ waitsInLine, maxRetryAfterMs }: Guard, error: RateLimit): boolean =>
  waitsInLine && retryAfterMs(error) <= maxRetryAfterMs;

/** A call that both the limiter and the breaker have admitted. */
type Admitted = { slot: Slot; permit: Permit };

/** @throws ModelError */
const admitted = async (guard: Guard, signal: AbortSignal, first: boolean): Promise<Admitted> => {
  const { breaker, pause, random } = guard;
  let left = guard.patienceMs;
  for (;;) {
    const entered = breaker.limiter.enter(signal, (ms, over) => pause(spread(ms, random), over), first);
    const slot = entered instanceof Promise ? await betweenTries(signal, entered) : entered;
    if (!slot) throw new ModelError('cancelled', '');
    const permit = breaker.admit();
    if (permit) return { slot, permit };
    // A call that waits for the breaker must not occupy a concurrency slot.
    slot.end();
    left -= await waitForBreaker(guard, signal, left);
  }
};

/** Returns the minimum number of milliseconds waited. @throws ModelError when the wait would exceed `left` */
const waitForBreaker = async (
  { breaker, pause, refusal }: Guard,
  signal: AbortSignal,
  left: number,
): Promise<number> => {
  // While the breaker is half open, the duration of its probe is unknown.
  const { opensIn = left } = breaker.state();
  if (left <= 0 || opensIn > left) throw refusal();
  const over = new AbortController();
  const passed = pause(opensIn, AbortSignal.any([signal, over.signal]));
  await betweenTries(signal, Promise.race([breaker.changed(), passed]));
  over.abort();
  if (signal.aborted) throw new ModelError('cancelled', '');
  return Math.max(1, opensIn);
};

type Report = { responded(): void; failed(by: string, error: unknown): void };

/** Uses the permit once, for the first outcome that is reported. */
const createReport = (permit: Permit): Report => {
  let isUsed = false;
  const once = (use: () => void): void => {
    if (isUsed) return;
    isUsed = true;
    use();
  };
  return {
    responded: () => once(permit.succeeded),
    failed: (by, error) => once(() => settle(permit, by, error)),
  };
};

type RateLimit = ModelError & { class: 'rate_limited' | 'overloaded' };

const isRateLimit = (error: unknown): error is RateLimit =>
  error instanceof ModelError &&
  (error.class === 'rate_limited' || (error.class === 'overloaded' && error.retryAfterSeconds !== undefined));

const retryAfterMs = ({ retryAfterSeconds = 0 }: ModelError): number => retryAfterSeconds * 1000;

const REFUSED: ReadonlySet<string> = new Set(['invalid_request', 'context_overflow', 'content_filtered']);

const settle = (permit: Permit, by: string, error: unknown): void => {
  if (!(error instanceof ModelError)) permit.abandoned();
  else if (isRateLimit(error) || REFUSED.has(error.class)) permit.succeeded();
  else if (passes(error.class)) permit.failed(by, error.message);
  else permit.abandoned();
};
