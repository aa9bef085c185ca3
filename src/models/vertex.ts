import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import type { AiSdkAdapter } from './ai-sdk.ts';
import { googleLanguage } from './google.ts';
import { createTokenSource, parseServiceAccount, type TokenDeps } from './google-token.ts';
import { credentialsKindOf, scopesOf, textOptionOf } from './provider-options.ts';
import { createTransport } from './transport/transport.ts';

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

type Connection = { baseURL: string; apiKey: string; headers: Record<string, string>; fetch: typeof fetch };

/** @throws Invalid when the service account's key is none */
export const connectVertex = (
  { baseURL, apiKey, headers, fetch: send }: Connection,
  spec: ProviderSpec,
  tokens: TokenDeps = { text: createTransport({ env: process.env }).text, now: () => Date.now() },
): AiSdkAdapter['language'] => {
  // The package leaves out what Vertex does not take when it is told this name.
  const name = 'google.vertex.chat';
  const takesKey = !spec.base_url && projectOf(spec) === undefined;
  if (takesKey) return googleLanguage({ name, baseURL, apiKey, headers, fetch: send });
  const token = isServiceAccount(spec)
    ? createTokenSource(parseServiceAccount(apiKey), scopesOf(spec), tokens)
    : async () => apiKey;
  return googleLanguage({
    name,
    baseURL,
    // The package insists on a key; it is taken out again below.
    apiKey: 'none',
    headers,
    fetch: async (input, init) => {
      const sent = new Headers(init?.headers);
      sent.delete('x-goog-api-key');
      sent.set('authorization', `Bearer ${await orAborted(token(), init?.signal)}`);
      return send(input, { ...init, headers: sent });
    },
  });
};

/** A token may be shared by several calls, so a cancel ends the wait and not the exchange. */
const orAborted = <Value>(value: Promise<Value>, signal: AbortSignal | null | undefined): Promise<Value> => {
  if (!signal) return value;
  return Promise.race([
    value,
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);
};
