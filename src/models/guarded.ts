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
 * Guarantees: the provider has responded as soon as the first event of its stream is there, so a stream that breaks
 * later counts as no failure of the model (agent-loop.md 10.1 says which failures count). A rate limit counts as no
 * failure either: while other calls of the model are in progress, the call waits and is repeated, as often as it takes.
 * A call that the open circuit holds back waits for up to `patienceMs`; if the circuit stays open for longer, the call
 * fails with an error that is `heldBack` and says when to repeat it.
 * Costs: nothing a delta.
 */
export type Guard = {
  breaker: Breaker;
  patienceMs: number;
  /** Whether calls wait where the provider limits them. */
  waitsInLine: boolean;
  pause: Pause;
  random: Random;
  /** The longest wait that a provider may ask for. */
  maxRetryAfterMs: number;
  settings: RetrySettings;
  refusal(): ModelError;
};

export type GuardedCall = {
  /** The run that calls; undefined outside of a run. */
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
      const isLimit = !watched.begun() && isRateLimit(error);
      const repeats = isLimit && slot.refused(retryAfterMs(error)) && waits(guard, error);
      if (!isLimit) slot.end();
      // Outside of a run each call is a caller.
      report.failed(run_id ?? randomUUID(), error);
      if (!repeats) throw error;
      await guard.pause(spread(backoffMs(guard.settings, error, refusals), guard.random), signal);
      if (signal.aborted) throw new ModelError('cancelled', '');
    }
  }
};

const waits = ({ waitsInLine, maxRetryAfterMs }: Guard, error: RateLimit): boolean =>
  waitsInLine && retryAfterMs(error) <= maxRetryAfterMs;

/** Both the limit and the breaker have admitted the call. */
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
    // A call that waits for the breaker must not take the place of one that does not.
    slot.end();
    left -= await waitForBreaker(guard, signal, left);
  }
};

/** Returns how many milliseconds that took at least. @throws ModelError when it would take longer than `left` */
const waitForBreaker = async (
  { breaker, pause, refusal }: Guard,
  signal: AbortSignal,
  left: number,
): Promise<number> => {
  // While the breaker is half open, the time until its probe has a response is unknown.
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

/** Uses the permit once, for what is known first. */
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
