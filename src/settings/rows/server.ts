import { boolean, choice, hostPort, integer, milliseconds, path, scopeId } from '../kinds.ts';
import { setting } from '../setting.ts';

export const settingsFile = setting({
  key: 'settings_file',
  env: 'SERVICE_SETTINGS_FILE',
  type: path(),
  not: 'file',
  doc: 'JSON or YAML file with the keys of this table',
});

export const serverSettings = [
  settingsFile,
  setting({
    key: 'http_addr',
    env: 'SERVICE_HTTP_ADDR',
    type: hostPort(),
    default: '127.0.0.1:38080',
    doc: 'listen address',
  }),
  setting({
    key: 'storage_dir',
    env: 'SERVICE_STORAGE_DIR',
    type: path(),
    default: './sessions',
    doc: 'data directory',
  }),
  setting({
    key: 'durability',
    env: 'SERVICE_DURABILITY',
    type: choice(['process', 'power']),
    default: 'power',
    doc: 'what an acknowledged write survives: the death of the process, or a loss of power too',
  }),
  setting({
    key: 'scope_id',
    env: 'SERVICE_SCOPE_ID',
    type: scopeId(),
    default: 'default',
    doc: 'scope of the built-in scope provider',
  }),
  setting({
    key: 'trust_forwarded_headers',
    env: 'SERVICE_TRUST_FORWARDED_HEADERS',
    type: boolean(),
    default: true,
    doc: 'believe X-Forwarded-For, X-Real-IP, X-Forwarded-Proto and X-Forwarded-Host',
  }),
  setting({
    key: 'body_limit_bytes',
    env: 'SERVICE_BODY_LIMIT_BYTES',
    type: integer({ min: 1 }),
    default: 2_097_152,
    doc: 'largest request body of all routes without a limit of their own',
  }),
  setting({
    key: 'attachment_body_limit_bytes',
    env: 'SERVICE_ATTACHMENT_BODY_LIMIT_BYTES',
    type: integer({ min: 1 }),
    default: 12_582_912,
    doc: 'largest request body of the routes that take attachments',
  }),
  setting({
    key: 'max_concurrent_requests',
    env: 'SERVICE_MAX_CONCURRENT_REQUESTS',
    type: integer({ min: 1 }),
    default: 100,
    doc: 'requests being answered at a time; event streams do not count',
  }),
  setting({
    key: 'shutdown_timeout_ms',
    env: 'SERVICE_SHUTDOWN_TIMEOUT_MS',
    type: milliseconds(),
    default: 30_000,
    doc: 'a graceful stop waits so long for running runs',
  }),
  setting({
    key: 'health_store_timeout_ms',
    env: 'SERVICE_HEALTH_STORE_TIMEOUT_MS',
    type: milliseconds({ min: 1 }),
    default: 5000,
    doc: 'the store must answer /health within it',
  }),
  setting({
    key: 'sse_heartbeat_ms',
    env: 'SERVICE_SSE_HEARTBEAT_MS',
    type: milliseconds({ min: 1 }),
    default: 15_000,
    doc: 'idle time of an event stream before a heartbeat comment',
  }),
  setting({
    key: 'sse_buffer_size',
    env: 'SERVICE_SSE_BUFFER_SIZE',
    type: integer({ min: 1 }),
    default: 4096,
    unit: 'frames',
    doc: 'frames waiting for a reader that takes no data; past it the stream is closed',
  }),
  setting({
    key: 'replay_buffer_capacity',
    env: 'SERVICE_REPLAY_BUFFER_CAPACITY',
    type: integer({ min: 1 }),
    default: 1024,
    unit: 'frames',
    doc: 'live replay buffer of a thread; past it deltas are joined',
  }),
  setting({
    key: 'replay_buffer_idle_secs',
    env: 'SERVICE_REPLAY_BUFFER_IDLE_SECS',
    type: integer({ min: 1 }),
    default: 300,
    doc: 'a live replay buffer without an active run is removed after it',
  }),
] as const;
