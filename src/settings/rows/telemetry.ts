import { choice, integer, metricsPrefix, text } from '../kinds.ts';
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
  setting({
    key: 'otel_attribute_prefix',
    env: 'SERVICE_OTEL_ATTRIBUTE_PREFIX',
    type: text(),
    default: 'agent_service.',
    doc: 'prefix of attributes of spans that no convention names',
  }),
  setting({
    key: 'runtime_stats.bucket_secs',
    env: 'SERVICE_RUNTIME_STATS_BUCKET_SECS',
    type: integer({ min: 1 }),
    default: 600,
    doc: 'length of a bucket of the statistics of agents; what was kept in buckets of another length is dropped',
  }),
  setting({
    key: 'runtime_stats.bucket_count',
    env: 'SERVICE_RUNTIME_STATS_BUCKET_COUNT',
    type: integer({ min: 1 }),
    default: 1008,
    doc: 'buckets kept; the whole window is so many buckets long',
  }),
] as const;
