import type { ReplaySpans, RunTraces } from '../../runtime/deps.ts';
import type { GenAiMetrics } from './gen-ai-metrics.ts';
import type { createRunSpans } from './run-spans.ts';

/** The interface of the service to OpenTelemetry, and its dependencies. */

export type Otel = {
  runs: RunTraces | undefined;
  /** Creates a separate instance for each replay. */
  replay: (() => ReplaySpans) | undefined;
  metrics: GenAiMetrics | undefined;
  /** Exports pending data, for a few seconds at most. */
  stop(): Promise<void>;
};

export type OtelDeps = Omit<Parameters<typeof createRunSpans>[0], 'tracer' | 'ids'> & { version: string };
