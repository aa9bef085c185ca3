import * as oauth from 'oauth4webapi';
import { clientAuthentication, requestOptions } from './client.ts';
import type { Reach } from './reach.ts';
import type { GrantedTokens } from './types.ts';

/** Revokes the refresh token, or else the access token, at an authorization server that offers this (RFC 7009). */
export const revokeAt = async (
  as: oauth.AuthorizationServer,
  { client, refresh_token, access_token }: Pick<GrantedTokens, 'client' | 'refresh_token' | 'access_token'>,
  reach: Reach,
): Promise<void> => {
  const token = refresh_token ?? access_token;
  const response = await oauth.revocationRequest(as, client, clientAuthentication(client), token, {
    additionalParameters: {
      token_type_hint: refresh_token === undefined ? 'access_token' : 'refresh_token',
    },
    ...requestOptions('the revocation endpoint', reach),
  });
  await oauth.processRevocationResponse(response);
};
