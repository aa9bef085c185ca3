import { choice, metricsPrefix, text } from '../kinds.ts';
import { setting } from '../setting.ts';

export const telemetrySettings = [
  setting({
    key: 'log_level',
    env: 'SERVICE_LOG_LEVEL',
    type: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    doc: 'minimum log level; starts, stops and ends of runs are `info`',
  }),
  setting({
    key: 'log_format',
    env: 'SERVICE_LOG_FORMAT',
    type: choice(['auto', 'pretty', 'json']),
    default: 'auto',
    doc: 'log format of `troupe serve` and `troupe dev`: formatted for people, or one JSON object per line; `auto` = formatted if stderr is a terminal',
  }),
  setting({
    key: 'metrics_prefix',
    env: 'SERVICE_METRICS_PREFIX',
    type: metricsPrefix(),
    default: 'service_',
    doc: 'prefix of metric names',
  }),
  setting({
    key: 'otel_attribute_prefix',
    env: 'SERVICE_OTEL_ATTRIBUTE_PREFIX',
    type: text(),
    default: 'agent_service.',
    doc: 'prefix of span attributes that no convention defines',
  }),
] as const;
