import type { ServiceLog } from '../../schema/log-events.ts';
import { type Environment, type OtelConfig, readOtelConfig } from './config.ts';
import type { Otel, OtelDeps } from './otel.ts';

export type { Otel, OtelDeps } from './otel.ts';

/**
 * OpenTelemetry (evals-and-traces.md 12). It is loaded only if an endpoint is configured, and its failures never affect
 * a run.
 */

/** Returns undefined when nothing is exported. */
export const startOtel = async (
  env: Environment,
  deps: OtelDeps,
  log: Pick<ServiceLog, 'warn'>,
): Promise<Otel | undefined> => {
  try {
    const config: OtelConfig | undefined = readOtelConfig(env);
    if (!config) return undefined;
    const { startSdk } = await import('./sdk.ts');
    return await startSdk(config, deps);
  } catch (err) {
    log.warn('otel.configuration_invalid', { err });
    return undefined;
  }
};
