import { boolean, integer, milliseconds, text } from '../kinds.ts';
import { setting } from '../setting.ts';

export const configurationSettings = [
  setting({
    key: 'local_backend_kind',
    env: 'SERVICE_LOCAL_BACKEND_KIND',
    type: text(),
    default: 'local',
    doc: 'what the local backend of agents is called where they are shown; `local` is taken too',
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
    key: 'models.max_retry_after_ms',
    env: 'SERVICE_MODELS_MAX_RETRY_AFTER_MS',
    type: milliseconds(),
    default: 60_000,
    doc: 'longest wait that a model provider may ask for; an inference whose provider asks for more fails at once',
  }),
] as const;
