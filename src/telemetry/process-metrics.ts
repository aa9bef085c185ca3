import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * What Prometheus clients tell of every process (`process_*`) and of Node (`nodejs_*`), under their usual names:
 * memory, processor time, open files, heap, garbage collection, delay of the event loop.
 *
 * One registry a process, whatever number of services it embeds, because the facts are those of the process: its
 * observers begin with the first service and stay. Costs a timer of the event loop's own, 50 times a second.
 */
let shared: Registry | undefined;

/** Counted twice elsewhere, or named like counters without being any. */
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
