import type { Principal } from '../../schema/principal.ts';
import type { Issuers } from './issuers.ts';
import type { VerifiedToken } from './verified-token.ts';

/**
 * Judges an access token: verifies it, then binds it to its user. Synchronous for a known token.
 *
 * @throws Unauthorized, RateLimited, Unavailable, also as a rejection
 */
export type JudgeToken = {
  (token: string): Principal | Promise<Principal>;
  /** Returns whether the token was verified before, so that judging it needs no signature. */
  isKnown(token: string): boolean;
};

export const createTokenJudge = (
  { verify, recall }: Pick<Issuers, 'verify' | 'recall'>,
  bind: (token: VerifiedToken) => Principal | Promise<Principal>,
): JudgeToken => {
  const judge = (token: string): Principal | Promise<Principal> => {
    const verified = verify(token);
    return verified instanceof Promise ? verified.then(bind) : bind(verified);
  };
  return Object.assign(judge, { isKnown: (token: string) => recall(token) !== undefined });
};
