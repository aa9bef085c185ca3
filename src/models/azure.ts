import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { AdapterRow, Connection } from './adapter-row.ts';
import { OPENAI_CHAT } from './chat-options.ts';
import { onceLoaded } from './once-loaded.ts';
import { type AdapterOption, type Environment, readTextOption } from './provider-options.ts';
import {
  createBearerAuthorization,
  createTokenSource,
  exchange,
  type TokenDeps,
  type TokenSource,
} from './token-source.ts';

/**
 * Azure OpenAI: the protocols of OpenAI at the address of a resource, where models are called by the names of their
 * deployments. A request is authorized by the key of the resource, by a token of Microsoft Entra ID, or by the secret
 * of an application, for which Entra ID issues tokens.
 */

const AUTHORITIES = ['login.microsoftonline.com', 'login.microsoftonline.us'];

export const AZURE_OPTIONS: readonly AdapterOption[] = [
  { name: 'resource' },
  { name: 'api_version' },
  { name: 'api', choices: ['chat', 'responses'] },
  { name: 'azure_ad_token', isSecret: true },
  { name: 'tenant_id' },
  { name: 'client_id' },
  { name: 'client_secret', isSecret: true },
  { name: 'authority_host', choices: AUTHORITIES },
];

/** Part of a host name or a path. Excludes every character that could change the address. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9-]*$/;
const TENANT = /^[A-Za-z0-9][A-Za-z0-9.-]*$/;
const DATE = /^\d{4}-\d{2}-\d{2}(-preview)?$/;
/** API versions without a date. */
const UNDATED = ['v1', 'preview', 'latest'];

export const checkAzure = (spec: ProviderSpec): void => {
  versionOf(spec);
  azureHome(spec, {});
  tenantIn(spec, {});
  applicationIn(spec, {});
};

export const azureHome = (spec: ProviderSpec, env: Environment): string | undefined => {
  const resource = readTextOption(spec, 'resource');
  if (resource === undefined) return env.AZURE_OPENAI_ENDPOINT?.trim() || undefined;
  if (!NAME.test(resource))
    throw new Invalid(`adapter_options.resource '${resource}' is not a resource name`);
  return `https://${resource}.openai.azure.com/`;
};

/** The address of a resource, with or without `openai/v1`. */
export const azureRoot = (baseURL: string, spec: ProviderSpec): string =>
  `${baseURL.replace(/\/openai(\/v1)?\/$/, '/')}openai/${DATE.test(versionOf(spec)) ? '' : 'v1/'}`;

const versionOf = (spec: ProviderSpec): string => {
  const version = readTextOption(spec, 'api_version') ?? 'v1';
  if (UNDATED.includes(version) || DATE.test(version)) return version;
  throw new Invalid(
    `adapter_options.api_version must be ${UNDATED.join(', ')} or a date such as 2024-10-21, got '${version.slice(0, 40)}'`,
  );
};

/** API versions with an earlier date reject the field for the schema of a completion. */
export const takesSchemas = (spec: ProviderSpec): boolean => {
  const version = versionOf(spec);
  return !DATE.test(version) || version >= '2024-08-01';
};

export const connectAzure = (
  connection: Connection,
  spec: ProviderSpec,
): ReturnType<AdapterRow['connect']> => {
  const version = versionOf(spec);
  const isDated = DATE.test(version);
  const isResponses = readTextOption(spec, 'api') === 'responses';
  const { headers } = connection;
  const authorization = authorizationOf(connection, spec);
  return {
    wire: onceLoaded(async () => {
      const { azureWire } = await import('./wire/azure.ts');
      const inner = isResponses
        ? (await import('./wire/openai-responses.ts')).openaiResponsesWire()
        : // Dated versions reject the cache key.
          (await import('./wire/openai-chat.ts')).openaiChatWire({ ...OPENAI_CHAT, cacheKey: !isDated });
      return azureWire(inner, { version, hasDeployments: isDated && !isResponses });
    }),
    headers: async (_, signal) => ({ ...(await authorization.headers(signal)), ...headers }),
    ...(authorization.renew && { renew: authorization.renew }),
  };
};

type Authorization = {
  headers(signal: AbortSignal): Promise<Record<string, string>>;
  renew?(refused: Readonly<Record<string, string>>): boolean;
};

const authorizationOf = ({ apiKey, env, tokens }: Connection, spec: ProviderSpec): Authorization => {
  if (apiKey !== '') return { headers: async () => ({ 'api-key': apiKey }) };
  const token = readTextOption(spec, 'azure_ad_token') ?? env.AZURE_OPENAI_AD_TOKEN?.trim();
  if (token) return { headers: async () => ({ authorization: `Bearer ${token}` }) };
  const application = applicationIn(spec, env);
  if (application) return createBearerAuthorization(entraTokens(application, tokens));
  throw new Invalid(
    `provider '${spec.id}' has no credentials: give api_key, adapter_options.azure_ad_token, or ${APPLICATION.join(', ')} in adapter_options, or allow AZURE_OPENAI_API_KEY, AZURE_OPENAI_AD_TOKEN or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET with allow_env_credentials`,
  );
};

export const hasEntraCredentials = (spec: ProviderSpec): boolean =>
  readTextOption(spec, 'azure_ad_token') !== undefined ||
  APPLICATION.some((key) => readTextOption(spec, key) !== undefined);

const APPLICATION = ['tenant_id', 'client_id', 'client_secret'] as const;

type Application = {
  authority: string;
  tenant: string;
  client_id: string;
  client_secret: string;
  scope: string;
};

const DEFAULT_SCOPE = 'https://cognitiveservices.azure.com/.default';

/**
 * The whole application comes from the options or from the environment; an incomplete one in the options is an error.
 */
const applicationIn = (spec: ProviderSpec, env: Environment): Application | undefined => {
  const given = APPLICATION.filter((key) => readTextOption(spec, key) !== undefined);
  const fromOptions = given.length > 0;
  if (fromOptions && given.length < APPLICATION.length) {
    const missing = APPLICATION.filter((key) => !given.includes(key));
    throw new Invalid(
      `adapter_options.${given.join(', ')} must be given together with ${missing.join(' and ')}`,
    );
  }
  const read = (key: (typeof APPLICATION)[number]): string | undefined =>
    fromOptions ? readTextOption(spec, key) : env[`AZURE_${key.toUpperCase()}`]?.trim();
  const tenant = tenantIn(spec, env);
  const [client_id, client_secret] = [read('client_id'), read('client_secret')];
  if (!tenant || !client_id || !client_secret) return undefined;
  const { scopes } = spec.adapter_options ?? {};
  return {
    authority: readTextOption(spec, 'authority_host') ?? 'login.microsoftonline.com',
    tenant,
    client_id,
    client_secret,
    scope: Array.isArray(scopes) && scopes.length > 0 ? scopes.join(' ') : DEFAULT_SCOPE,
  };
};

const tenantIn = (spec: ProviderSpec, env: Environment): string | undefined => {
  const tenant = readTextOption(spec, 'tenant_id') ?? env.AZURE_TENANT_ID?.trim();
  if (tenant && !TENANT.test(tenant)) {
    throw new Invalid(
      'the tenant of Entra ID must be a domain or an id of letters, digits, dots and hyphens',
    );
  }
  return tenant;
};

/** Client credentials (RFC 6749, 4.4). The secret is sent only to Microsoft's address. */
const entraTokens = (
  { authority, tenant, client_id, client_secret, scope }: Application,
  deps: TokenDeps,
): TokenSource => {
  const url = `https://${authority}/${tenant}/oauth2/v2.0/token`;
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope };
  const labels = { by: 'Microsoft Entra ID', refused: 'Microsoft Entra ID refused the application' };
  return createTokenSource(() => exchange({ url, form, ...labels }, deps), deps);
};
