import type { Principal } from '../../schema/principal.ts';
import type { Issuers } from './issuers.ts';
import type { VerifiedToken } from './verified-token.ts';

/**
 * Judges an access token: verifies it, then binds it to its user.
 *
 * @throws Unauthorized, RateLimited, Unavailable, also as a rejection
 */
export type JudgeToken = {
  (token: string): Principal | Promise<Principal>;
  /** Judges a token that was verified before, which takes no signature; undefined for any other. */
  known(token: string): Principal | Promise<Principal> | undefined;
};

export const createTokenJudge = (
  { verify, recall }: Pick<Issuers, 'verify' | 'recall'>,
  bind: (token: VerifiedToken) => Principal | Promise<Principal>,
): JudgeToken => {
  const judge = (token: string): Principal | Promise<Principal> => {
    const verified = verify(token);
    return verified instanceof Promise ? verified.then(bind) : bind(verified);
  };
  const known: JudgeToken['known'] = (token) => {
    const verified = recall(token);
    return verified && bind(verified);
  };
  return Object.assign(judge, { known });
};
