import type { Configuration } from '../configuration/control-plane/service.ts';
import { createEvals, type Evals } from '../evals/index.ts';
import { createObserver } from '../observability/observer.ts';
import type { Execution } from './execution.ts';
import type { Foundation } from './foundation.ts';

/** Creates the service of evaluations, which only routes use. */
export const createEvaluations = (
  { input, settings, log, clock, ids, metrics, store, meter, usage, actors }: Foundation,
  { live }: Configuration,
  { runtime, observability, events }: Pick<Execution, 'runtime' | 'observability' | 'events'>,
): Evals =>
  createEvals({
    store,
    clock,
    ids,
    run: (given) => runtime.ephemeral(given),
    live,
    meter,
    usage,
    traces: observability.traces,
    spans: observability.replaySpans,
    // Replays do not count in the statistics of agents.
    observe: createObserver({ metrics, stats: undefined }),
    events,
    actors,
    settings: {
      limits: settings.eval_limits,
      // A trace does not record that fields were removed from arguments and results.
      hasWholeToolIo: settings.trace.tool_io_fields === undefined && input.redactTraces === undefined,
    },
    log,
  });
