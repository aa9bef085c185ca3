import { type Environment, type OtelConfig, otelConfigOf } from './config.ts';
import type { Otel, OtelDeps } from './otel.ts';

export type { Otel, OtelDeps } from './otel.ts';

/**
 * OpenTelemetry (evals-and-traces.md 12). Nothing of it is loaded unless an address is configured, and nothing of what
 * it does, or fails to do, reaches a run.
 */

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
