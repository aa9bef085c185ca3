import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { AdapterRow, Connection } from './adapter-row.ts';
import { applicationDefaultTokens } from './google-credentials.ts';
import { parseServiceAccount, serviceAccountTokens } from './google-token.ts';
import { onceLoaded } from './once-loaded.ts';
import { type AdapterOption, readCredentialsKind, readScopes, readTextOption } from './provider-options.ts';
import { createBearerAuthorization } from './token-source.ts';

/**
 * Gemini and Claude on Vertex AI: the protocols of their APIs at another address, with a Google Cloud token instead of
 * the key. Without a project only the address for API keys is available (express mode).
 */

export const VERTEX_OPTIONS: readonly AdapterOption[] = [{ name: 'project' }, { name: 'location' }];

const HOST = 'aiplatform.googleapis.com';
/** Part of a host name. Excludes every character that could change the host. */
const NAME = /^[a-z0-9][a-z0-9-]*$/;
/** Multi-region endpoints, whose host names have a different form. */
const MULTI_REGIONS: readonly string[] = ['us', 'eu'];

/** Uses `adapter_options.project`, by default the service account's own, and `adapter_options.location`. */
export const vertexHome = (spec: ProviderSpec): string => {
  const project = projectOf(spec);
  if (project === undefined) return `https://${HOST}/v1/publishers/google/`;
  const location = readTextOption(spec, 'location') ?? 'global';
  if (!NAME.test(location)) throw new Invalid(`adapter_options.location '${location}' is not a location`);
  return `https://${hostOf(location)}/v1/projects/${encodeURIComponent(project)}/locations/${location}/publishers/google/`;
};

const hostOf = (location: string): string => {
  if (location === 'global') return HOST;
  return MULTI_REGIONS.includes(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-${HOST}`;
};

const projectOf = (spec: ProviderSpec): string | undefined =>
  readTextOption(spec, 'project') ??
  (isServiceAccount(spec) && spec.api_key ? parseServiceAccount(spec.api_key).project_id : undefined);

const isServiceAccount = (spec: ProviderSpec): boolean =>
  readCredentialsKind(spec) === 'service_account_json';

const takesKey = (spec: ProviderSpec): boolean => !spec.base_url && projectOf(spec) === undefined;

export const connectVertex = (
  connection: Connection,
  spec: ProviderSpec,
): ReturnType<AdapterRow['connect']> => {
  const { baseURL, headers } = connection;
  const authorization = vertexAuthorization(connection, spec);
  const gemini = onceLoaded(async () =>
    (await import('./wire/gemini.ts')).geminiWire({ platform: 'vertex' }),
  );
  const publishers = baseURL.endsWith('/publishers/google/') ? '../' : 'publishers/';
  const claude = onceLoaded(async () =>
    (await import('./wire/anthropic-vertex.ts')).vertexAnthropicWire(publishers),
  );
  return {
    wire: (upstream) => (isAnthropic(upstream) ? claude() : gemini()),
    headers: async (_, signal) => ({ ...(await authorization.headers(signal)), ...headers }),
    ...(authorization.renew && { renew: authorization.renew }),
  };
};

const isAnthropic = (upstream: string): boolean =>
  /^(publishers\/anthropic\/models\/)?claude-/.test(upstream);

/**
 * The headers that authorize a request: the key if the address accepts one, else a Google Cloud token.
 *
 * @throws Invalid when the key of a service account cannot be read, or there are no credentials
 */
export const vertexAuthorization = (
  { apiKey, env, tokens }: Pick<Connection, 'apiKey' | 'env' | 'tokens'>,
  spec: ProviderSpec,
): Partial<ReturnType<typeof createBearerAuthorization>> &
  Pick<ReturnType<typeof createBearerAuthorization>, 'headers'> => {
  if (isServiceAccount(spec)) {
    return createBearerAuthorization(
      serviceAccountTokens(parseServiceAccount(apiKey), readScopes(spec), tokens),
    );
  }
  if (apiKey === '') {
    if (!spec.base_url && projectOf(spec) === undefined) {
      throw new Invalid(
        `provider '${spec.id}' has no api_key and the environment variable VERTEX_API_KEY is not set; the credentials of Google Cloud need adapter_options.project`,
      );
    }
    return applicationDefaultTokens(readScopes(spec), { ...tokens, env });
  }
  const header: Record<string, string> = takesKey(spec)
    ? { 'x-goog-api-key': apiKey }
    : { authorization: `Bearer ${apiKey}` };
  return { headers: async () => header };
};
