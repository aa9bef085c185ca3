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
] as const;
