import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { AdapterRow, Connection } from './adapter-row.ts';
import { applicationDefaultTokens } from './google-credentials.ts';
import { parseServiceAccount, serviceAccountTokens } from './google-token.ts';
import { onceLoaded } from './once-loaded.ts';
import { type AdapterOption, credentialsKindOf, scopesOf, textOptionOf } from './provider-options.ts';
import { bearerOf } from './token-source.ts';

/**
 * Gemini and Claude on Vertex AI: the protocols of their APIs at another address, with a token of Google Cloud in place
 * of the key. Without a project there is only the address that takes API keys (express mode).
 */

export const VERTEX_OPTIONS: readonly AdapterOption[] = [{ name: 'project' }, { name: 'location' }];

const HOST = 'aiplatform.googleapis.com';
/** Part of a host name: nothing that could lead to another host may get in. */
const NAME = /^[a-z0-9][a-z0-9-]*$/;
/** The multi-region endpoints have hosts of another form. */
const MULTI_REGIONS: readonly string[] = ['us', 'eu'];

/** `adapter_options.project`, by default the service account's own, and `adapter_options.location`. */
export const vertexHome = (spec: ProviderSpec): string => {
  const project = projectOf(spec);
  if (project === undefined) return `https://${HOST}/v1/publishers/google/`;
  const location = textOptionOf(spec, 'location') ?? 'global';
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
  textOptionOf(spec, 'project') ??
  (isServiceAccount(spec) && spec.api_key ? parseServiceAccount(spec.api_key).project_id : undefined);

const isServiceAccount = (spec: ProviderSpec): boolean => credentialsKindOf(spec) === 'service_account_json';

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
 * The headers that authorize a request: the key where the address accepts one, else a token of Google Cloud.
 *
 * @throws Invalid when the key of a service account cannot be read, or there are no credentials
 */
export const vertexAuthorization = (
  { apiKey, env, tokens }: Pick<Connection, 'apiKey' | 'env' | 'tokens'>,
  spec: ProviderSpec,
): Partial<ReturnType<typeof bearerOf>> & Pick<ReturnType<typeof bearerOf>, 'headers'> => {
  if (isServiceAccount(spec)) {
    return bearerOf(serviceAccountTokens(parseServiceAccount(apiKey), scopesOf(spec), tokens));
  }
  if (apiKey === '') {
    if (!spec.base_url && projectOf(spec) === undefined) {
      throw new Invalid(
        `provider '${spec.id}' has no api_key and the environment variable VERTEX_API_KEY is not set; the credentials of Google Cloud need adapter_options.project`,
      );
    }
    return applicationDefaultTokens(scopesOf(spec), { ...tokens, env });
  }
  const header: Record<string, string> = takesKey(spec)
    ? { 'x-goog-api-key': apiKey }
    : { authorization: `Bearer ${apiKey}` };
  return { headers: async () => header };
};
