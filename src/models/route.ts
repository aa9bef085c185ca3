import { excerpt } from './bounds.ts';
import type { Breaker, Breakers } from './breakers.ts';
import { ModelError } from './errors.ts';
import { guarded } from './guarded.ts';
import type { Model } from './model.ts';
import { isRetried, withOpeningRetry } from './opening.ts';
import { createPool, type PoolDeps } from './pool.ts';
import { withRecovery } from './recovery.ts';
import { type Pause, pause as platformPause, type RetrySettings } from './retry.ts';

/**
 * What an agent's `model_id` leads to, a model or a pool, made reliable by the agent's own settings: inside out
 * breaker, retry at the opening, choice of a member, recovery of a broken stream.
 */

export type Route = (settings: RetrySettings) => Model;

export type Routes = {
  model(model: Model): Route;
  pool(spec: PoolDeps['spec'], models: PoolDeps['models']): Route;
};

export type RoutesDeps = {
  breakers: Breakers;
  pause?: Pause;
  /** The longest wait that a provider may ask for with `Retry-After`. */
  maxRetryAfterMs?: number;
};

/** Whoever would be let in this soon waits for it; it is what a few retries would take. */
const PATIENCE_MS = 5000;

/**
 * One for the process: the breakers outlive every registry.
 *
 * @example
 * const routes = createRoutes({ breakers: createBreakers(clock) });
 * const model = routes.pool(spec, models)(DEFAULT_RETRY);
 */
export const createRoutes = ({
  breakers,
  pause = platformPause,
  maxRetryAfterMs = 60_000,
}: RoutesDeps): Routes => ({
  model: (model) => {
    const breaker = breakers.of(model.id);
    const refusal = (): ModelError => new ModelError('unavailable', whyLeftAlone(breaker), { final: true });
    const safe = guarded(model, { breaker, pause, patienceMs: PATIENCE_MS, refusal });
    const retries = (error: ModelError): boolean => isRetried(error) && breaker.admits();
    return (settings) =>
      withRecovery(withOpeningRetry(safe, { settings, pause, maxRetryAfterMs, retries }), settings, pause);
  },
  pool: (spec, models) => {
    const pool = createPool({ spec, models, breakers, pause, maxRetryAfterMs });
    return (settings) => withRecovery(pool.model(settings), settings, pause);
  },
});

const whyLeftAlone = (breaker: Breaker): string => {
  const { model, opensIn, cause = '' } = breaker.state();
  const until =
    opensIn === undefined ? 'while a call finds out if it works' : `for ${Math.ceil(opensIn / 1000)} s`;
  return `model '${model}' is left alone ${until}: its last calls failed, with ${excerpt(cause, 500)}`;
};
