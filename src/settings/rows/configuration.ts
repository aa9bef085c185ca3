import { boolean, integer, milliseconds, text } from '../kinds.ts';
import { setting } from '../setting.ts';

/** A timer of Node that is set for longer fires at once. */
const MOST_SECS = 1_000_000;

export const configurationSettings = [
  setting({
    key: 'local_backend_kind',
    env: 'SERVICE_LOCAL_BACKEND_KIND',
    type: text(),
    default: 'local',
    doc: 'what the local backend of agents is called where they are shown; `local` is taken too',
  }),
  setting({
    key: 'config_refresh_interval_secs',
    env: 'SERVICE_CONFIG_REFRESH_INTERVAL_SECS',
    type: integer({ max: MOST_SECS }),
    default: 5,
    doc: 'how often changes of the configuration are looked for that were made in the store itself; 0 = never',
  }),
  setting({
    key: 'audit_log.enabled',
    env: 'SERVICE_AUDIT_LOG_ENABLED',
    type: boolean(),
    default: true,
    doc: 'keep a log of changes of the configuration; without it nothing can be restored',
  }),
  setting({
    key: 'audit_log.retention_days',
    env: 'SERVICE_AUDIT_LOG_RETENTION_DAYS',
    type: integer({ min: 1 }),
    default: 90,
    doc: 'age at which its events are removed',
  }),
  setting({
    key: 'audit_log.sweep_interval_secs',
    env: 'SERVICE_AUDIT_LOG_SWEEP_INTERVAL_SECS',
    type: integer(),
    default: 3600,
    doc: 'how often; 0 acts as 60',
  }),
  setting({
    key: 'mcp_refresh_interval_secs',
    env: 'SERVICE_MCP_REFRESH_INTERVAL_SECS',
    type: integer({ max: MOST_SECS }),
    default: 60,
    doc: 'how often connected MCP servers are asked for their tools, give or take a tenth, whether or not they tell of changes; 0 = never',
  }),
  setting({
    key: 'models.max_retry_after_ms',
    env: 'SERVICE_MODELS_MAX_RETRY_AFTER_MS',
    type: milliseconds(),
    default: 60_000,
    doc: 'longest wait that a model provider may ask for; an inference whose provider asks for more fails at once',
  }),
  setting({
    key: 'models.breaker_failures',
    env: 'SERVICE_MODELS_BREAKER_FAILURES',
    type: integer(),
    default: 5,
    doc: 'how many runs in a row must fail to reach a model before it is not called for 30 s; failures within a second count once, rate limits and streams that break later not at all; 0 = no circuit breaker',
  }),
  setting({
    key: 'models.keep_alive_secs',
    env: 'SERVICE_MODELS_KEEP_ALIVE_SECS',
    type: integer({ max: MOST_SECS }),
    default: 300,
    doc: 'how long an idle connection to a model provider stays open, unless the provider announces a shorter time; 0 = not at all',
  }),
  setting({
    key: 'models.connections_per_origin',
    env: 'SERVICE_MODELS_CONNECTIONS_PER_ORIGIN',
    type: integer({ min: 1 }),
    default: 512,
    doc: 'most connections to one host of a model provider; further inferences wait for one, and their timeout runs',
  }),
  setting({
    key: 'models.outage_wait_ms',
    env: 'SERVICE_MODELS_OUTAGE_WAIT_MS',
    type: milliseconds(),
    default: 600_000,
    doc: 'how long a run waits in total for a model whose circuit is open before each further refusal counts as an attempt',
  }),
] as const;
