/**
 * The addresses of this service that browsers and authorization servers receive (identity.md 6.1, 6.2). They do not
 * depend on the request: an authorization server accepts only the address that it has registered.
 */
export type Addresses = {
  redirectUri: string;
  /** The client metadata document; only https addresses can be one. */
  clientDocument: string | undefined;
  /** The address that starts an authorization in a browser. */
  start(id: string): string;
};

export const CALLBACK_PATH = '/v1/authorizations/callback';
export const CLIENT_DOCUMENT_PATH = '/oauth/client.json';

/** @param origin that of the public URL, or else that of the bound address */
export const createAddresses = (origin: string): Addresses => {
  const isSecure = origin.startsWith('https:');
  return {
    redirectUri: `${origin}${CALLBACK_PATH}`,
    clientDocument: isSecure ? `${origin}${CLIENT_DOCUMENT_PATH}` : undefined,
    // Over http browsers have no session of this service: the console starts it with the credential of its user.
    start: (id) =>
      isSecure ? `${origin}/v1/authorizations/${id}/start` : `${origin}/connections?authorization=${id}`,
  };
};

/** The client metadata document of this service (OAuth Client ID Metadata Document). */
export const clientDocumentOf = (origin: string) => ({
  client_id: `${origin}${CLIENT_DOCUMENT_PATH}`,
  client_name: 'Troupe',
  client_uri: origin,
  redirect_uris: [`${origin}${CALLBACK_PATH}`],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});
