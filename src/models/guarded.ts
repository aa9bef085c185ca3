import { randomUUID } from 'node:crypto';
import type { Breaker, Permit } from './breakers.ts';
import { ModelError, passes } from './errors.ts';
import type { Model } from './model.ts';
import type { Pause } from './retry.ts';

/**
 * A model behind its breaker.
 *
 * Guarantees: a failure counts when it is of a kind that may pass (agent-loop.md 10.1); a request that the provider
 * refuses shows that the provider works. Whoever comes while the breaker is open waits for as long as `patienceMs`
 * if the model may be asked again by then, and is refused at once if not.
 */
export type Guard = {
  breaker: Breaker;
  patienceMs: number;
  pause: Pause;
  /** What whoever is kept away is told. */
  refusal(): ModelError;
};

export const guarded = (model: Model, guard: Guard): Model => ({
  ...model,
  async stream(request, sink, signal) {
    const permit = guard.breaker.admit() ?? (await waitForPermit(guard, signal));
    try {
      const end = await model.stream(request, sink, signal);
      permit.succeeded();
      return end;
    } catch (error) {
      // A call of no run is a caller of its own.
      settle(permit, request.session?.run_id ?? randomUUID(), error);
      throw error;
    }
  },
});

/** @throws ModelError */
const waitForPermit = async (
  { breaker, patienceMs, pause, refusal }: Guard,
  signal: AbortSignal,
): Promise<Permit> => {
  let left = patienceMs;
  for (;;) {
    // While another call finds out, nobody knows how long it takes.
    const { opensIn = left } = breaker.state();
    if (left <= 0 || opensIn > left) throw refusal();
    await firstOf(breaker.changed(), pause, opensIn, signal);
    if (signal.aborted) throw new ModelError('cancelled', '');
    const permit = breaker.admit();
    if (permit) return permit;
    left -= Math.max(1, opensIn);
  }
};

const firstOf = async (
  changed: Promise<void>,
  pause: Pause,
  ms: number,
  signal: AbortSignal,
): Promise<void> => {
  const over = new AbortController();
  await Promise.race([changed, pause(ms, AbortSignal.any([signal, over.signal]))]);
  over.abort();
};

const REFUSED: ReadonlySet<string> = new Set(['invalid_request', 'context_overflow', 'content_filtered']);

const settle = (permit: Permit, by: string, error: unknown): void => {
  if (!(error instanceof ModelError)) permit.abandoned();
  else if (passes(error.class)) permit.failed(by, error.message);
  else if (REFUSED.has(error.class)) permit.succeeded();
  else permit.abandoned();
};
