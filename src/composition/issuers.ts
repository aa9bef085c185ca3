import type { Identity } from '../identity/index.ts';
import { createIssuers, createTokenJudge, type JudgeToken } from '../identity/issuers/index.ts';
import { createSignIn, type SignIn } from '../identity/sign-in/sign-in.ts';
import type { Foundation } from './foundation.ts';

/** Judges access tokens, which needs an issuer, and signs users in. */
export type IdentityProviders = { judgeAccessToken: JudgeToken | undefined; signIn: SignIn };

/** Creates the verification of tokens. Fetches nothing. */
export const createIdentityProviders = (
  { settings: { identity, public_url, scope_id }, clock, log, metrics }: Foundation,
  { bind, sessions }: Pick<Identity, 'bind' | 'sessions'>,
): IdentityProviders => {
  const issuers = createIssuers({
    specs: identity.issuers,
    publicUrl: public_url,
    scopeId: scope_id,
    staleSecs: identity.jwks_stale_secs,
    clock,
    log,
    observe: metrics.identity.keysFetched,
  });
  const signIn = createSignIn({ specs: identity.issuers, issuers, bind, sessions, clock });
  const hasIssuers = identity.issuers.length > 0;
  return { judgeAccessToken: hasIssuers ? createTokenJudge(issuers, bind) : undefined, signIn };
};
