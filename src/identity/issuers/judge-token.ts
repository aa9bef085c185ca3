import type { Principal } from '../../schema/principal.ts';
import type { Issuers } from './issuers.ts';
import type { VerifiedToken } from './verified-token.ts';

/**
 * Judges an access token: verifies it, then binds it to its user. Synchronous for a known token.
 *
 * @throws Unauthorized, RateLimited, Unavailable, also as a rejection
 */
export type JudgeToken = (token: string) => Principal | Promise<Principal>;

export const createTokenJudge =
  (
    { verify }: Pick<Issuers, 'verify'>,
    bind: (token: VerifiedToken) => Principal | Promise<Principal>,
  ): JudgeToken =>
  (token) => {
    const verified = verify(token);
    return verified instanceof Promise ? verified.then(bind) : bind(verified);
  };
