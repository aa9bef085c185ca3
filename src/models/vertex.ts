import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import { createTokenSource, parseServiceAccount, type TokenDeps } from './google-token.ts';
import { credentialsKindOf, scopesOf, textOptionOf } from './provider-options.ts';

/**
 * Gemini on Vertex AI: the protocol of the Gemini API at another address, with a token of Google Cloud in place
 * of the key. Without a project there is only the address that takes API keys (express mode).
 */

const HOST = 'aiplatform.googleapis.com';
/** Part of a host name: nothing that could lead to another host may get in. */
const NAME = /^[a-z0-9][a-z0-9-]*$/;

/** `adapter_options.project`, by default the service account's own, and `adapter_options.location`. */
export const vertexBaseUrl = (spec: ProviderSpec): string => {
  const project = projectOf(spec);
  if (project === undefined) return `https://${HOST}/v1/publishers/google/`;
  const location = textOptionOf(spec, 'location') ?? 'global';
  if (!NAME.test(location)) throw new Invalid(`adapter_options.location '${location}' is not a location`);
  const host = location === 'global' ? HOST : `${location}-${HOST}`;
  return `https://${host}/v1/projects/${encodeURIComponent(project)}/locations/${location}/publishers/google/`;
};

const projectOf = (spec: ProviderSpec): string | undefined =>
  textOptionOf(spec, 'project') ??
  (isServiceAccount(spec) && spec.api_key ? parseServiceAccount(spec.api_key).project_id : undefined);

const isServiceAccount = (spec: ProviderSpec): boolean => credentialsKindOf(spec) === 'service_account_json';

const takesKey = (spec: ProviderSpec): boolean => !spec.base_url && projectOf(spec) === undefined;

/**
 * The headers that authorize a request: the key where the address accepts one, else a token of Google Cloud. A token may
 * be shared by several calls, so the signal of a call ends its wait and not the exchange.
 *
 * @throws Invalid when the key of a service account cannot be read
 */
export const vertexAuthorization = (
  apiKey: string,
  spec: ProviderSpec,
  tokens: TokenDeps,
): ((signal: AbortSignal) => Promise<Record<string, string>>) => {
  if (takesKey(spec)) return async () => ({ 'x-goog-api-key': apiKey });
  const token = isServiceAccount(spec)
    ? createTokenSource(parseServiceAccount(apiKey), scopesOf(spec), tokens)
    : async () => apiKey;
  return async (signal) => ({ authorization: `Bearer ${await orAborted(token(), signal)}` });
};

const orAborted = <Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> => {
  return new Promise<Value>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
};
