import { integer, issuers } from '../kinds.ts';
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
] as const;
