import { metricsPrefix } from '../kinds.ts';
import { setting } from '../setting.ts';

export const telemetrySettings = [
  setting({
    key: 'metrics_prefix',
    env: 'SERVICE_METRICS_PREFIX',
    type: metricsPrefix(),
    default: 'service_',
    doc: 'prefix of the names of metrics',
  }),
] as const;
