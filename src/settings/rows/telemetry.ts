import { choice, metricsPrefix, text } from '../kinds.ts';
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
    key: 'log_format',
    env: 'SERVICE_LOG_FORMAT',
    type: choice(['auto', 'pretty', 'json']),
    default: 'auto',
    doc: 'how `troupe serve` and `troupe dev` write the log: drawn for people, or one JSON object a line; auto = drawn where stderr is a terminal',
  }),
  setting({
    key: 'metrics_prefix',
    env: 'SERVICE_METRICS_PREFIX',
    type: metricsPrefix(),
    default: 'service_',
    doc: 'prefix of the names of metrics',
  }),
  setting({
    key: 'otel_attribute_prefix',
    env: 'SERVICE_OTEL_ATTRIBUTE_PREFIX',
    type: text(),
    default: 'agent_service.',
    doc: 'prefix of attributes of spans that no convention names',
  }),
] as const;
