import type { ProviderSpec } from '../schema/model.ts';
import { withoutTrailingSlashes } from '../schema/trailing-slashes.ts';
import type { AdapterRow, Connection } from './adapter-row.ts';
import { ADAPTERS } from './adapters.ts';
import { resolveAddress as baseAddressOf, resolveConnection } from './connection.ts';
import type { ListSchema } from './model-list.ts';
import { adapterName, connect } from './provider.ts';
import { type Environment, mayUseEnvironment, readCredentialsKind, readHeaders } from './provider-options.ts';
import { describeMissingResponse, UnreadableBody } from './response.ts';
import type { TokenDeps } from './token-source.ts';
import type { TextResponse } from './transport/text.ts';
import type { Transport } from './transport/types.ts';

/**
 * The request for a provider's list of models (config.md 7.1), used by discovery and by the provider test.
 *
 * Guarantees: the key is sent only to the address of inferences, even if the service redirects; a text about a request
 * never quotes its headers, or any part of the address except host and path.
 */
export type ListRequest = {
  schema: ListSchema;
  url: URL;
  headers: Headers;
  /** Additional headers, which may require a request to obtain. */
  authorize?(signal: AbortSignal): Promise<Record<string, string>>;
};

const SCHEMAS: ReadonlyMap<string, ListSchema> = new Map([
  ['openai', 'openai'],
  ['openai-compatible', 'openai'],
  ['openrouter', 'openai'],
  ['gemini', 'gemini'],
  ['google', 'gemini'],
]);

const choice = ({ adapter_options }: ProviderSpec, key: string): string | undefined => {
  const given = adapter_options?.[key];
  return typeof given === 'string' ? given.trim().toLowerCase() : undefined;
};

const ROWS: ReadonlyMap<string, AdapterRow> = new Map(Object.entries(ADAPTERS));

/**
 * Undefined if there is no known list, or none that can be reached.
 *
 * @throws Invalid when the spec is malformed
 */
export const createListRequest = (
  spec: ProviderSpec,
  deps: { env: Environment; tokens: TokenDeps },
): ListRequest | undefined => {
  const row = ROWS.get(adapterName(spec.adapter));
  const named = choice(spec, 'model_discovery_schema');
  const usual = row?.list?.onRequest ? undefined : row?.list?.schema;
  const schema = named === undefined ? usual : SCHEMAS.get(named);
  // The JSON of a service account is a private key and must not be sent.
  if (!row || !schema || readCredentialsKind(spec) === 'service_account_json') return undefined;
  const isOwn = row.list?.schema === schema && choice(spec, 'model_discovery_auth') === undefined;
  if (isOwn && row.list?.isAuthorizedAsInference) return ownRequest(schema, row.list, spec, deps);
  const key = keyOf(spec, row, deps);
  if (!spec.base_url && key === undefined && !row.keyOptional) return undefined;
  const { baseURL } = baseAddressOf(row, spec, mayUseEnvironment(spec) ? deps.env : {});
  const url = listUrl(baseURL);
  return url && { schema, url, headers: listHeaders(spec, schema, key) };
};

/** Uses the headers of an inference, which depend on the address. */
const ownRequest = (
  schema: ListSchema,
  { url: listOf, headers: added }: NonNullable<AdapterRow['list']>,
  spec: ProviderSpec,
  deps: Parameters<typeof connect>[1],
): ListRequest | undefined => {
  const { connection, headers } = connect(spec, deps);
  const url = listOf ? new URL(listOf(connection.baseURL)) : listUrl(connection.baseURL);
  return (
    url && {
      schema,
      url,
      headers: new Headers(added),
      authorize: async (signal) => headers({ method: 'GET', url: url.href, headers: {} }, signal),
    }
  );
};

const keyOf = (
  spec: ProviderSpec,
  row: AdapterRow,
  deps: Parameters<typeof connect>[1],
): Connection['apiKey'] | undefined => {
  if (!spec.api_key && !mayUseEnvironment(spec)) return undefined;
  return resolveConnection({ ...row, keyOptional: true }, spec, deps).apiKey || undefined;
};

/** A base URL that was copied from an inference endpoint has no list of models. */
const INFERENCE = /(\/completions|\/responses|:(stream)?generateContent)$/i;

const listUrl = (base: string): URL | undefined => {
  // The trailing slash may be part of a query.
  const url = new URL(base.replace(/\/$/, ''));
  const path = withoutTrailingSlashes(url.pathname);
  if (INFERENCE.test(path)) return undefined;
  url.pathname = path.endsWith('/models') ? path : `${path}/models`;
  return url;
};

/** Headers with separate credentials; only the provider's key is sent. */
const KEPT_BACK = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-goog-api-key',
  'x-api-key',
  'api-key',
  'ocp-apim-subscription-key',
  'x-auth-token',
];

type Auth = 'bearer' | 'google' | 'none';

const AUTHS: ReadonlyMap<string, Auth> = new Map([
  ['bearer', 'bearer'],
  ['authorization-bearer', 'bearer'],
  ['x-goog-api-key', 'google'],
  ['google-api-key', 'google'],
  ['gemini-api-key', 'google'],
  ['none', 'none'],
  ['no-auth', 'none'],
  ['disabled', 'none'],
]);

const listHeaders = (spec: ProviderSpec, schema: ListSchema, key: string | undefined): Headers => {
  const headers = new Headers(readHeaders(spec));
  for (const name of KEPT_BACK) headers.delete(name);
  const auth =
    AUTHS.get(choice(spec, 'model_discovery_auth') ?? '') ?? (schema === 'openai' ? 'bearer' : 'google');
  if (key !== undefined && auth === 'bearer') headers.set('authorization', `Bearer ${key}`);
  if (key !== undefined && auth === 'google') headers.set('x-goog-api-key', key);
  return headers;
};

/**
 * Reads at most `most` bytes of the body.
 *
 * @throws Error that names the address and the reason
 */
export const sendListRequest = async (
  transport: Pick<Transport, 'text'>,
  { url, headers, authorize }: ListRequest,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<TextResponse> => {
  const authorization = await authorize?.(signal);
  try {
    const given = { ...Object.fromEntries(headers), ...authorization };
    const sent = { method: 'GET', url: url.href, headers: given } as const;
    return await transport.text({ ...sent, most, signal });
  } catch (cause) {
    const reason =
      cause instanceof UnreadableBody
        ? `the response was interrupted or has more than ${most} bytes`
        : describeMissingResponse(cause);
    throw new Error(`${addressOf(url)}: ${reason}`);
  }
};

export const addressOf = (url: URL): string => `${url.origin}${url.pathname}`;
