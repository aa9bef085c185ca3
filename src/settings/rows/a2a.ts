import { boolean, choice, milliseconds, text, url } from '../kinds.ts';
import { setting } from '../setting.ts';

export const a2aSettings = [
  setting({
    key: 'a2a_extended_card_bearer_token',
    env: 'SERVICE_A2A_EXTENDED_CARD_BEARER_TOKEN',
    type: text(),
    secret: true,
    doc: 'token of the extended card; unset = no extended card (501)',
  }),
  setting({
    key: 'a2a_public_base_url',
    env: 'SERVICE_A2A_PUBLIC_BASE_URL',
    type: url(),
    doc: 'origin in agent cards; unset = `public_url`, or else the origin of the request',
  }),
  setting({
    key: 'a2a_provider_organization',
    env: 'SERVICE_A2A_PROVIDER_ORGANIZATION',
    type: text(),
    default: 'Troupe',
    doc: 'provider name in agent cards',
  }),
  setting({
    key: 'a2a_provider_url',
    env: 'SERVICE_A2A_PROVIDER_URL',
    type: url(),
    doc: 'provider URL in agent cards; unset = the origin of the cards',
  }),
  setting({
    key: 'a2a_strict_card',
    env: 'SERVICE_A2A_STRICT_CARD',
    type: boolean(),
    default: false,
    doc: 'omit `stateTransitionHistory`, which A2A 1.0 removed, from cards',
  }),
  setting({
    key: 'a2a_blocking_wait_ms',
    env: 'SERVICE_A2A_BLOCKING_WAIT_MS',
    type: milliseconds(),
    default: 300_000,
    doc: 'maximum duration of a blocking send; 0 = unlimited',
  }),
  setting({
    key: 'a2a_client_task_ids',
    env: 'SERVICE_A2A_CLIENT_TASK_IDS',
    type: choice(['with_context', 'always', 'never']),
    default: 'with_context',
    doc: 'when an unknown task id creates a task',
  }),
  setting({
    key: 'a2a_enforce_input_modes',
    env: 'SERVICE_A2A_ENFORCE_INPUT_MODES',
    type: boolean(),
    default: false,
    doc: 'reject parts with a media type that the cards do not list',
  }),
  setting({
    key: 'a2a_push_enabled',
    env: 'SERVICE_A2A_PUSH_ENABLED',
    type: boolean(),
    default: true,
    doc: 'offer push notifications',
  }),
  setting({
    key: 'a2a_push_block_private_hosts',
    env: 'SERVICE_A2A_PUSH_BLOCK_PRIVATE_HOSTS',
    type: boolean(),
    unset: 'true unless http_addr is a loopback address',
    doc: 'send push notifications to public addresses only',
  }),
  setting({
    key: 'a2a_remote_url',
    env: 'SERVICE_A2A_REMOTE_URL',
    alsoRead: ['A2A_REMOTE_URL'],
    type: url(),
    doc: 'URL of an A2A server, registered as `remote`',
  }),
  setting({
    key: 'a2a_remote_bearer_token',
    env: 'SERVICE_A2A_REMOTE_BEARER_TOKEN',
    alsoRead: ['A2A_BEARER_TOKEN'],
    type: text(),
    secret: true,
    doc: 'bearer token of `remote`',
  }),
] as const;
