import type { RunTraces } from '../../runtime/deps.ts';
import { type Environment, type OtelConfig, otelConfigOf } from './config.ts';
import type { GenAiMetrics } from './gen-ai-metrics.ts';
import type { createRunSpans } from './run-spans.ts';

/**
 * OpenTelemetry (evals-and-traces.md 12). Nothing of it is loaded unless an address is configured, and nothing of what
 * it does, or fails to do, reaches a run.
 */

export type Otel = {
  runs: RunTraces | undefined;
  metrics: GenAiMetrics | undefined;
  /** Sends what waits, for a few seconds at most. */
  stop(): Promise<void>;
};

export type OtelDeps = Omit<Parameters<typeof createRunSpans>[0], 'tracer' | 'ids'> & { version: string };

/** Undefined: nothing is exported. */
export const startOtel = async (
  env: Environment,
  deps: OtelDeps,
  log: { warn(data: object, text: string): void },
): Promise<Otel | undefined> => {
  try {
    const config: OtelConfig | undefined = otelConfigOf(env);
    if (!config) return undefined;
    const { startSdk } = await import('./sdk.ts');
    return await startSdk(config, deps);
  } catch (err) {
    log.warn({ err }, 'telemetry is not exported: its configuration cannot be used');
    return undefined;
  }
};
