import type { Identity } from '../identity/index.ts';
import { createIssuers, createTokenJudge, type JudgeToken } from '../identity/issuers/index.ts';
import type { Foundation } from './foundation.ts';

/** Creates the verification of access tokens; undefined without issuers. Fetches nothing. */
export const createAccessTokens = (
  { settings: { identity, public_url, scope_id }, clock, log, metrics }: Foundation,
  { bind }: Pick<Identity, 'bind'>,
): JudgeToken | undefined => {
  if (identity.issuers.length === 0) return undefined;
  const issuers = createIssuers({
    specs: identity.issuers,
    publicUrl: public_url,
    scopeId: scope_id,
    staleSecs: identity.jwks_stale_secs,
    clock,
    log,
    observe: metrics.identity.keysFetched,
  });
  return createTokenJudge(issuers, bind);
};
