import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * The standard metrics of Prometheus clients for every process (`process_*`) and for Node (`nodejs_*`), under their
 * usual names: memory, CPU time, open files, heap, garbage collection, event-loop delay.
 *
 * There is one registry per process, regardless of the number of embedded services, because these values belong to the
 * process: the collection starts with the first service and is not stopped.
 * Cost: a separate event-loop timer, 50 times a second.
 */
let shared: Registry | undefined;

/** Duplicates of other metrics, or gauges with the names of counters. */
const LEFT_OUT = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const LOOP_RESOLUTION_MS = 20;

export const processRegistry = (): Registry => {
  if (shared) return shared;
  shared = new Registry();
  collectDefaultMetrics({ register: shared, eventLoopMonitoringPrecision: LOOP_RESOLUTION_MS });
  for (const name of LEFT_OUT) shared.removeSingleMetric(name);
  return shared;
};
