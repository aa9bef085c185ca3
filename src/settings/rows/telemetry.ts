import { choice, metricsPrefix } from '../kinds.ts';
import { setting } from '../setting.ts';

export const telemetrySettings = [
  setting({
    key: 'log_level',
    env: 'SERVICE_LOG_LEVEL',
    type: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    doc: 'the least that the log tells: a line for each start, stop and end of a run is info',
  }),
  setting({
    key: 'metrics_prefix',
    env: 'SERVICE_METRICS_PREFIX',
    type: metricsPrefix(),
    default: 'service_',
    doc: 'prefix of the names of metrics',
  }),
] as const;
