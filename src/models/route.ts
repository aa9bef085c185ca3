import { type Breakers, guarded } from './breakers.ts';
import { ModelError } from './errors.ts';
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
}: {
  breakers: Breakers;
  pause?: Pause;
}): Routes => ({
  model: (model) => {
    const breaker = breakers.of(model.id);
    // What made the breaker open was told to others, and may not be for this run to know.
    const refusal = (): ModelError =>
      new ModelError(
        'unavailable',
        `model '${model.id}' is left alone for a while: too many of its calls failed`,
      );
    const safe = guarded(model, breaker, refusal);
    const retries = (error: ModelError): boolean => isRetried(error) && breaker.admits();
    return (settings) => withRecovery(withOpeningRetry(safe, settings, pause, retries), settings, pause);
  },
  pool: (spec, models) => {
    const pool = createPool({ spec, models, breakers, pause });
    return (settings) => withRecovery(pool.model(settings), settings, pause);
  },
});
