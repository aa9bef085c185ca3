import type { ReplaySpans, RunTraces } from '../runtime/deps.ts';
import type { GenAiMetrics } from './gen-ai-metrics.ts';
import type { createRunSpans } from './run-spans.ts';

/** What the service has of OpenTelemetry, and what that is given. */

export type Otel = {
  runs: RunTraces | undefined;
  /** For each replay its own. */
  replay: (() => ReplaySpans) | undefined;
  metrics: GenAiMetrics | undefined;
  /** Sends what waits, for a few seconds at most. */
  stop(): Promise<void>;
};

export type OtelDeps = Omit<Parameters<typeof createRunSpans>[0], 'tracer' | 'ids'> & { version: string };
