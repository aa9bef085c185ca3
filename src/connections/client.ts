import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import type { McpAuth } from '../schema/mcp-auth.ts';
import { textsIn } from './discovery.ts';
import { ConnectionFailure, OAuthRefusal } from './failure.ts';
import { type Reach, send } from './reach.ts';
import type { RegisteredClient } from './types.ts';

/**
 * The OAuth client of this service at an authorization server, in the order of MCP 2025-11-25: that of the entry, the
 * client metadata document, dynamic registration (identity.md 6.1).
 */

type Choice = {
  auth: McpAuth;
  as: oauth.AuthorizationServer;
  redirectUri: string;
  clientDocument: string | undefined;
  reach: Reach;
};

/** Returns undefined if a client must be registered. @throws ConnectionFailure */
export const knownClient = ({ auth, as, clientDocument }: Choice): RegisteredClient | undefined => {
  const { client_id, client_secret } = auth;
  if (client_id !== undefined) return entryClient(as, client_id, client_secret);
  if (as.client_id_metadata_document_supported !== true || clientDocument === undefined) return undefined;
  return { client_id: clientDocument, token_endpoint_auth_method: 'none' };
};

const entryClient = (
  as: oauth.AuthorizationServer,
  client_id: string,
  client_secret: string | undefined,
): RegisteredClient => {
  if (client_secret === undefined) return { client_id, token_endpoint_auth_method: 'none' };
  const token_endpoint_auth_method = WITH_SECRET.find((method) => methodsOf(as).includes(method));
  if (token_endpoint_auth_method === undefined)
    throw new ConnectionFailure('refused', 'the authorization server does not accept client secrets');
  return { client_id, client_secret, token_endpoint_auth_method };
};

const WITH_SECRET = ['client_secret_basic', 'client_secret_post'] as const;

/** RFC 8414 names the default. */
const methodsOf = ({
  token_endpoint_auth_methods_supported: methods,
}: oauth.AuthorizationServer): string[] =>
  methods === undefined ? ['client_secret_basic'] : textsIn(methods);

/** @throws ConnectionFailure */
export const registerClient = async ({ as, redirectUri, reach }: Choice): Promise<RegisteredClient> => {
  if (as.registration_endpoint === undefined)
    throw new ConnectionFailure(
      'refused',
      'the authorization server registers no clients: set client_id in the entry of the server',
    );
  const method = (['none', ...WITH_SECRET] as const).find((each) => methodsOf(as).includes(each));
  if (method === undefined)
    throw new ConnectionFailure('refused', 'the authorization server has no supported client authentication');
  const response = await withOAuth(() =>
    oauth.dynamicClientRegistrationRequest(
      as,
      {
        client_name: 'Troupe',
        application_type: 'web',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: method,
      },
      requestOptions('the registration endpoint', reach),
    ),
  );
  const { client_id, client_secret, token_endpoint_auth_method = method } = await readRegistration(response);
  const used = (['none', ...WITH_SECRET] as const).find((each) => each === token_endpoint_auth_method);
  if (used === undefined || (used !== 'none' && typeof client_secret !== 'string'))
    throw new ConnectionFailure('refused', 'the authorization server has registered an unusable client');
  return {
    client_id,
    ...(used !== 'none' && typeof client_secret === 'string' && { client_secret }),
    token_endpoint_auth_method: used,
  };
};

/** Many servers omit `client_secret_expires_at`, which RFC 7591 requires and the library insists on. */
const Registration = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
});

/** @throws ConnectionFailure */
const readRegistration = async (response: Response): Promise<z.infer<typeof Registration>> => {
  if (response.status >= 500)
    throw new ConnectionFailure('unavailable', `the registration endpoint: status ${response.status}`);
  const body: unknown = await response.json().catch(() => undefined);
  const { success, data } = Registration.safeParse(body);
  if (success && (response.status === 200 || response.status === 201)) return data;
  const { error } = z.object({ error: z.string() }).safeParse(body).data ?? {};
  throw new ConnectionFailure('refused', `the authorization server registers no client: ${codeOf(error)}`);
};

export const clientAuthentication = ({
  client_secret = '',
  token_endpoint_auth_method: method,
}: RegisteredClient): oauth.ClientAuth => {
  if (method === 'none') return oauth.None();
  return method === 'client_secret_post'
    ? oauth.ClientSecretPost(client_secret)
    : basicAuthentication(client_secret);
};

/**
 * The library escapes every character but letters and digits, which servers that compare without decoding reject. This
 * is the same encoding (RFC 6749, 2.3.1) without superfluous escapes.
 */
const basicAuthentication =
  (secret: string): oauth.ClientAuth =>
  (_as, { client_id }, _body, headers) => {
    const pair = `${formEncoded(client_id)}:${formEncoded(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  };

const formEncoded = (text: string): string => new URLSearchParams({ _: text }).toString().slice(2);

/** Addresses were checked with the metadata, and each request checks them again. */
export const requestOptions = (what: string, reach: Reach) => ({
  [oauth.allowInsecureRequests]: true,
  [oauth.customFetch]: (
    url: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown },
  ): Promise<Response> =>
    send(new URL(url), what, reach, {
      method,
      headers,
      ...(body !== undefined && body !== null && { body: String(body) }),
    }),
});

/** Converts errors of the library, whose causes may contain tokens. @throws ConnectionFailure */
export const withOAuth = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConnectionFailure) throw error;
    if (error instanceof oauth.ResponseBodyError) throw refusalOf(error);
    if (error instanceof oauth.AuthorizationResponseError) throw denialOf(error);
    if (statusOf(error) >= 500)
      throw new ConnectionFailure('unavailable', `the authorization server: status ${statusOf(error)}`);
    throw new ConnectionFailure('refused', 'the response of the authorization server is not valid');
  }
};

const refusalOf = ({ error, status }: oauth.ResponseBodyError): OAuthRefusal =>
  new OAuthRefusal(codeOf(error), status);

const denialOf = ({ error }: oauth.AuthorizationResponseError): ConnectionFailure =>
  error === 'server_error' || error === 'temporarily_unavailable'
    ? new ConnectionFailure('unavailable', `the authorization server: ${error}`)
    : new ConnectionFailure('denied', `the authorization was denied: ${codeOf(error)}`);

/** Codes are short words; anything else is not repeated. */
const codeOf = (error: unknown): string =>
  typeof error === 'string' && /^[a-z_]{1,64}$/.test(error) ? error : 'unknown error';

const statusOf = (error: unknown): number =>
  error instanceof oauth.OperationProcessingError && error.cause instanceof Response ? error.cause.status : 0;
