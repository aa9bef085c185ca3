import { boolean, integer, issuers } from '../kinds.ts';
import { setting } from '../setting.ts';

export const identitySettings = [
  setting({
    key: 'identity.issuers',
    env: 'SERVICE_IDENTITY_ISSUERS',
    type: issuers(),
    default: [],
    secret: true,
    doc: 'identity providers whose access tokens are accepted',
  }),
  setting({
    key: 'identity.jwks_stale_secs',
    env: 'SERVICE_JWKS_STALE_SECS',
    type: integer(),
    default: 86_400,
    doc: 'time for which the known keys of an issuer are used when no newer ones can be fetched',
  }),
  setting({
    key: 'access_log.enabled',
    env: 'SERVICE_ACCESS_LOG_ENABLED',
    type: boolean(),
    default: true,
    doc: 'keep an access log of sign-ins, decisions, refused requests and connected accounts',
  }),
  setting({
    key: 'access_log.retention_days',
    env: 'SERVICE_ACCESS_LOG_RETENTION_DAYS',
    type: integer({ min: 1 }),
    default: 90,
    doc: 'age at which events of the access log are removed',
  }),
  setting({
    key: 'identity.session_idle_secs',
    env: 'SERVICE_SESSION_IDLE_SECS',
    type: integer({ min: 60, max: 31_536_000 }),
    default: 43_200,
    doc: 'time without a request after which a session ends',
  }),
  setting({
    key: 'identity.session_max_secs',
    env: 'SERVICE_SESSION_MAX_SECS',
    type: integer({ min: 60, max: 31_536_000 }),
    default: 604_800,
    doc: 'longest life of a session',
  }),
] as const;
