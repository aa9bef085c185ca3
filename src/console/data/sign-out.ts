import { anything } from './guard.ts';
import type { Identity } from './principal.ts';
import { forgetReads } from './queries.ts';
import { send } from './request.ts';
import { clearToken } from './session.ts';

/**
 * Ends the session, if there is one, and removes the credential and everything that was read with it.
 * @throws RequestError if the session has not ended
 */
export const signOut = async ({ credential }: Identity): Promise<void> => {
  if (credential?.kind === 'session') {
    await send({ method: 'DELETE', path: '/v1/session', quiet: true }, anything);
  }
  clearToken();
  // A session in a cookie leaves no token that could change.
  forgetReads();
};
