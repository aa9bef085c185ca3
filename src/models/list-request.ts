import type { ProviderSpec } from '../schema/model.ts';
import type { AdapterRow, Connection } from './adapter-row.ts';
import { ADAPTERS } from './adapters.ts';
import { addressOf as baseAddressOf, connectionOf } from './connection.ts';
import type { ListSchema } from './model-list.ts';
import { adapterName, connect } from './provider.ts';
import { credentialsKindOf, type Environment, headersOf, mayUseEnvironment } from './provider-options.ts';
import { reasonOf, UnreadableBody } from './response.ts';
import type { TokenDeps } from './token-source.ts';
import type { TextResponse } from './transport/text.ts';
import type { Transport } from './transport/types.ts';

/**
 * How a provider is asked for its list of models (config.md 7.1), by discovery and by the provider test.
 *
 * Guarantees: the key goes to the address that inferences go to and to no other, also where the service redirects;
 * a text about a request never quotes its headers, nor what an address may carry besides host and path.
 */
export type ListRequest = {
  schema: ListSchema;
  url: URL;
  headers: Headers;
  /** Further headers, which may have to be requested first. */
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
 * Undefined where there is no list to ask for: none that is known, or none that could be reached.
 *
 * @throws Invalid when the spec is broken
 */
export const listRequestOf = (
  spec: ProviderSpec,
  deps: { env: Environment; tokens: TokenDeps },
): ListRequest | undefined => {
  const row = ROWS.get(adapterName(spec.adapter));
  const named = choice(spec, 'model_discovery_schema');
  const schema = named === undefined ? row?.list?.schema : SCHEMAS.get(named);
  // The JSON of a service account is a private key, and no credential to send.
  if (!row || !schema || credentialsKindOf(spec) === 'service_account_json') return undefined;
  if (named === undefined && row.list?.isAuthorizedAsInference)
    return ownRequest(schema, row.list, spec, deps);
  const key = keyOf(spec, row, deps);
  if (!spec.base_url && key === undefined && !row.keyOptional) return undefined;
  const { baseURL } = baseAddressOf(row, spec, mayUseEnvironment(spec) ? deps.env : {});
  const url = listUrl(baseURL);
  return url && { schema, url, headers: listHeaders(spec, schema, key) };
};

/** With the headers of an inference, which depend on the address. */
const ownRequest = (
  schema: ListSchema,
  { url: listOf }: NonNullable<AdapterRow['list']>,
  spec: ProviderSpec,
  deps: Parameters<typeof connect>[1],
): ListRequest | undefined => {
  const { connection, headers } = connect(spec, deps);
  const url = listOf ? new URL(listOf(connection.baseURL)) : listUrl(connection.baseURL);
  return (
    url && {
      schema,
      url,
      headers: new Headers(),
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
  return connectionOf({ ...row, keyOptional: true }, spec, deps).apiKey || undefined;
};

/** A base URL that someone copied from where a model is called leads to no list. */
const INFERENCE = /(\/completions|\/responses|:(stream)?generateContent)$/i;

const listUrl = (base: string): URL | undefined => {
  // The slash at its end may stand behind a query.
  const url = new URL(base.replace(/\/$/, ''));
  const path = url.pathname.replace(/\/+$/, '');
  if (INFERENCE.test(path)) return undefined;
  url.pathname = path.endsWith('/models') ? path : `${path}/models`;
  return url;
};

/** Credentials of their own; only the key of the provider is sent. */
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
  const headers = new Headers(headersOf(spec));
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
 * @throws Error that names the address, and why there was no answer
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
        ? `the answer broke off or has more than ${most} bytes`
        : reasonOf(cause);
    throw new Error(`${addressOf(url)}: ${reason}`);
  }
};

export const addressOf = (url: URL): string => `${url.origin}${url.pathname}`;
