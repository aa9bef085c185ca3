import type { ProviderSpec } from '../schema/model.ts';
import { ADAPTERS, type AdapterRow, homeOf } from './adapters.ts';
import type { ListSchema } from './model-list.ts';
import { adapterName } from './provider.ts';
import { apiKeyOf, baseUrlOf, credentialsKindOf, type Environment, headersOf } from './provider-options.ts';
import { reasonOf, UnreadableBody } from './response.ts';
import type { TextResponse } from './transport/text.ts';
import type { Transport } from './transport/types.ts';

/**
 * How a provider is asked for its list of models (config.md 7.1), by discovery and by the provider test.
 *
 * Guarantees: the key goes to the address that inferences go to and to no other, also where the service redirects;
 * a text about a request never quotes its headers, nor what an address may carry besides host and path.
 */
export type ListRequest = { schema: ListSchema; url: URL; headers: Headers };

const SCHEMAS: ReadonlyMap<string, ListSchema> = new Map([
  ['openai', 'openai'],
  ['openai-compatible', 'openai'],
  ['openrouter', 'openai'],
  ['gemini', 'gemini'],
  ['google', 'gemini'],
]);

/** By the name of an adapter, where the spec names no schema. */
const OWN_SCHEMAS: ReadonlyMap<string, ListSchema> = new Map([
  ['openai', 'openai'],
  ['gemini', 'gemini'],
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
export const listRequestOf = (spec: ProviderSpec, env: Environment): ListRequest | undefined => {
  const adapter = adapterName(spec.adapter);
  const row = ROWS.get(adapter);
  const named = choice(spec, 'model_discovery_schema');
  const schema = named === undefined ? OWN_SCHEMAS.get(adapter) : SCHEMAS.get(named);
  // The JSON of a service account is a private key, and no credential to send.
  if (!row || !schema || credentialsKindOf(spec) === 'service_account_json') return undefined;
  const key = keyOf(spec, row, env);
  if (!spec.base_url && key === undefined && !row.keyOptional) return undefined;
  const url = listUrl(baseUrlOf(spec, homeOf(row, spec)));
  return url && { schema, url, headers: listHeaders(spec, schema, key) };
};

const keyOf = (spec: ProviderSpec, row: AdapterRow, env: Environment): string | undefined => {
  const allowed = spec.api_key || spec.adapter_options?.allow_env_credentials === true;
  if (!allowed) return undefined;
  const source = { variable: row.keyVariable, home: homeOf(row, spec), optional: true };
  return apiKeyOf(spec, source, env) || undefined;
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
  { url, headers }: ListRequest,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<TextResponse> => {
  try {
    const sent = { method: 'GET', url: url.href, headers: Object.fromEntries(headers) } as const;
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
