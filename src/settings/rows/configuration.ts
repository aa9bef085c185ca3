import { boolean, integer, milliseconds, text } from '../kinds.ts';
import { setting } from '../setting.ts';

/** A Node timer with a longer delay fires at once. */
const MOST_SECS = 1_000_000;

export const configurationSettings = [
  setting({
    key: 'local_backend_kind',
    env: 'SERVICE_LOCAL_BACKEND_KIND',
    type: text(),
    default: 'local',
    doc: 'name of the local backend in agent records; `local` is accepted too',
  }),
  setting({
    key: 'config_refresh_interval_secs',
    env: 'SERVICE_CONFIG_REFRESH_INTERVAL_SECS',
    type: integer({ max: MOST_SECS }),
    default: 5,
    doc: 'interval between checks for configuration changes that another program wrote to the store; 0 = never',
  }),
  setting({
    key: 'audit_log.enabled',
    env: 'SERVICE_AUDIT_LOG_ENABLED',
    type: boolean(),
    default: true,
    doc: 'keep an audit log of configuration changes; without it no entry can be restored',
  }),
  setting({
    key: 'audit_log.retention_days',
    env: 'SERVICE_AUDIT_LOG_RETENTION_DAYS',
    type: integer({ min: 1 }),
    default: 90,
    doc: 'age at which audit events are removed',
  }),
  setting({
    key: 'usage.retention_days',
    env: 'SERVICE_USAGE_RETENTION_DAYS',
    type: integer({ min: 1 }),
    default: 400,
    doc: 'days for which usage, and counters of past windows and ended runs, are kept',
  }),
  setting({
    key: 'audit_log.sweep_interval_secs',
    env: 'SERVICE_AUDIT_LOG_SWEEP_INTERVAL_SECS',
    type: integer(),
    default: 3600,
    doc: 'interval between removals of old audit events; 0 acts as 60',
  }),
  setting({
    key: 'mcp_refresh_interval_secs',
    env: 'SERVICE_MCP_REFRESH_INTERVAL_SECS',
    type: integer({ max: MOST_SECS }),
    default: 60,
    doc: 'interval between requests for the tool lists of connected MCP servers, with a jitter of 10 %, in addition to change notifications; 0 = never',
  }),
  setting({
    key: 'models.max_retry_after_ms',
    env: 'SERVICE_MODELS_MAX_RETRY_AFTER_MS',
    type: milliseconds(),
    default: 60_000,
    doc: 'longest retry delay that a model provider may request; an inference fails at once when its provider requests a longer one',
  }),
  setting({
    key: 'models.breaker_failures',
    env: 'SERVICE_MODELS_BREAKER_FAILURES',
    type: integer(),
    default: 5,
    doc: 'consecutive failures to reach a model that open its circuit breaker for 30 s; failures within one second count once, rate limits and interrupted streams do not count; 0 = no circuit breaker',
  }),
  setting({
    key: 'models.keep_alive_secs',
    env: 'SERVICE_MODELS_KEEP_ALIVE_SECS',
    type: integer({ max: MOST_SECS }),
    default: 300,
    doc: 'keep-alive time of idle connections to model providers, unless the provider announces a shorter one; 0 = no keep-alive',
  }),
  setting({
    key: 'models.connections_per_origin',
    env: 'SERVICE_MODELS_CONNECTIONS_PER_ORIGIN',
    type: integer({ min: 1 }),
    default: 512,
    doc: 'maximum number of connections per host of a model provider; further inferences wait for a connection within their timeout',
  }),
  setting({
    key: 'models.outage_wait_ms',
    env: 'SERVICE_MODELS_OUTAGE_WAIT_MS',
    type: milliseconds(),
    default: 600_000,
    doc: 'total time that a run waits for an open circuit breaker before each further rejection counts as an attempt',
  }),
] as const;
