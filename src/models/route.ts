import { excerpt } from './bounds.ts';
import type { Breaker, Breakers } from './breakers.ts';
import { ModelError } from './errors.ts';
import { callGuarded } from './guarded.ts';
import type { Model } from './model.ts';
import { isRetried, retryOpening, watchSink } from './opening.ts';
import { createPool, type PoolDeps } from './pool.ts';
import { withRecovery } from './recovery.ts';
import { type Pause, pause as platformPause, type Random, type RetrySettings, spread } from './retry.ts';

/**
 * Resolves an agent's `model_id` to a model or a pool and makes it reliable with the agent's settings. The layers, from
 * the inside out: breaker, retry at the opening, choice of a member, recovery of a broken stream.
 */

export type Route = (settings: RetrySettings) => Model;

export type Routes = {
  model(model: Model): Route;
  pool(spec: PoolDeps['spec'], models: PoolDeps['models']): Route;
};

export type RoutesDeps = {
  breakers: Breakers;
  pause?: Pause;
  random?: Random;
  /** Longest wait that a provider may request with `Retry-After`. */
  maxRetryAfterMs?: number;
};

/** A call waits this long for an open circuit before its run is rescheduled; a few retries take as long. */
const PATIENCE_MS = 5000;

/**
 * Created once per process: the breakers outlive every registry.
 *
 * @example
 * const routes = createRoutes({ breakers: createBreakers(clock) });
 * const model = routes.pool(spec, models)(DEFAULT_RETRY);
 */
export const createRoutes = ({
  breakers,
  pause = platformPause,
  random = Math.random,
  maxRetryAfterMs = 60_000,
}: RoutesDeps): Routes => ({
  model: (model) => {
    const breaker = breakers.of(model.id);
    const common = { pause, random, maxRetryAfterMs };
    const guard = {
      breaker,
      patienceMs: PATIENCE_MS,
      waitsInLine: true,
      refusal: () => whileOpen(breaker, random),
    };
    const retries = (error: ModelError): boolean => isRetried(error) && breaker.admits();
    return (settings) => {
      const reliable: Model = {
        ...model,
        stream(request, sink, signal) {
          const watched = watchSink(sink, signal);
          const opening = { settings, signal, watched, retries, ...common };
          const call = { run_id: request.session?.run_id, watched, signal };
          return retryOpening(opening, () =>
            callGuarded({ ...guard, ...common, settings }, call, () =>
              model.stream(request, watched.sink, signal),
            ),
          );
        },
      };
      return withRecovery(reliable, settings, pause);
    };
  },
  pool: (spec, models) => {
    const pool = createPool({ spec, models, breakers, pause, random, maxRetryAfterMs });
    return (settings) => withRecovery(pool.model(settings), settings, pause);
  },
});

const whileOpen = (breaker: Breaker, random: Random): ModelError => {
  const { model, opensIn, cause = '' } = breaker.state();
  const until =
    opensIn === undefined ? 'until the provider responds to a probe' : `for ${Math.ceil(opensIn / 1000)} s`;
  return new ModelError(
    'unavailable',
    `model '${model}' is not called ${until}: its last calls failed, with ${excerpt(cause, 500)}`,
    { heldBack: true, retryAfterSeconds: spread(opensIn ?? PATIENCE_MS, random) / 1000 },
  );
};
