import { isObject } from '../schema/endpoint.ts';
import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import { headerProblem, keyProblem } from '../schema/sendable.ts';
import { ADDRESS_RULE, hasQueryOrFragment, hasUserInfo, isWebAddress } from '../schema/web-address.ts';

/** Reads the connection options of a provider's spec (agent-loop.md 10); every reader throws `Invalid`. */

export type Environment = Readonly<Record<string, string | undefined>>;

export type AdapterOption = {
  /** The key in `adapter_options`. */
  name: string;
  /** Whether the value is hidden from readers of the configuration. */
  isSecret?: boolean;
  /** The allowed values. */
  choices?: readonly string[];
  /** Whether the value is an object; default: a string. */
  isObject?: boolean;
};

const DEFAULT_TIMEOUT_SECONDS = 300;

export const timeoutSecondsOf = ({ timeout_secs }: ProviderSpec): number =>
  Math.max(1, timeout_secs ?? DEFAULT_TIMEOUT_SECONDS);

/** Ends with `/`, because paths are appended to it. */
export const readBaseUrl = ({ base_url }: ProviderSpec, fallback: string): string => {
  const url = base_url || fallback;
  checkBaseUrl(url);
  return url.endsWith('/') ? url : `${url}/`;
};

const checkBaseUrl = (url: string): void => {
  if (!isWebAddress(url)) throw new Invalid(`base_url ${ADDRESS_RULE}, such as https://api.example.com/v1`);
  if (hasUserInfo(url)) {
    throw new Invalid(
      "base_url must not contain user info: give a key in 'api_key', anything else in 'adapter_options.headers'",
    );
  }
  if (hasQueryOrFragment(url)) {
    throw new Invalid(
      "base_url must not contain a query or a fragment: give a key in 'api_key', anything else in 'adapter_options.headers'",
    );
  }
};

export const readHeaders = ({ adapter_options }: ProviderSpec): Record<string, string> => {
  const headers = adapter_options?.headers;
  if (headers === undefined) return {};
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw new Invalid('adapter_options.headers must be an object of string -> string pairs');
  }
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerValue(name, value)]));
};

const headerValue = (name: string, value: unknown): string => {
  if (typeof value !== 'string') throw new Invalid(`adapter_options.headers[${name}] must be a string`);
  const problem = headerProblem(value);
  if (problem !== undefined) throw new Invalid(`adapter_options.headers[${name}] ${problem}`);
  try {
    new Headers([[name, value]]);
    return value;
  } catch {
    // The platform's error would quote the header.
    throw new Invalid(`adapter_options.headers[${shownName(name)}] is not a valid HTTP header`);
  }
};

/** An invalid name may contain the value after a colon, so only the part before it is quoted. */
const shownName = (name: string): string => short(name.split(/[:=]/)[0] ?? '');

export const mayUseEnvironment = ({ adapter_options }: ProviderSpec): boolean => {
  const allowed = adapter_options?.allow_env_credentials ?? false;
  if (typeof allowed === 'boolean') return allowed;
  throw new Invalid('adapter_options.allow_env_credentials must be a boolean when present');
};

/** @throws Invalid that does not quote the key */
export const sendableKey = (key: string, place: string): string => {
  const problem = keyProblem(key);
  if (problem !== undefined) throw new Invalid(`${place} ${problem}`);
  return key;
};

const CREDENTIALS = ['bearer', 'service_account_json'] as const;
type CredentialsKind = (typeof CREDENTIALS)[number];

export const readCredentialsKind = ({ adapter_options }: ProviderSpec): CredentialsKind => {
  const given = adapter_options?.credentials_kind ?? 'bearer';
  if (typeof given !== 'string') {
    throw new Invalid(`adapter_options.credentials_kind must be a string, got ${describeValue(given)}`);
  }
  const kind = CREDENTIALS.find((each) => each === given);
  if (kind) return kind;
  throw new Invalid(
    `unknown adapter_options.credentials_kind '${short(given)}' (valid: ${CREDENTIALS.join(', ')})`,
  );
};

const LONGEST_QUOTE = 40;

/** Truncates a value, so that a key in the wrong field is not quoted in full. */
const short = (text: string): string =>
  text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`;

/** Describes a JSON value of the wrong type for an error. */
const describeValue = (given: unknown): string => {
  if (Array.isArray(given)) return 'an array';
  return typeof given === 'object' && given !== null ? 'an object' : short(JSON.stringify(given));
};

const DEFAULT_SCOPES = ['https://www.googleapis.com/auth/cloud-platform'];

export const readScopes = ({ adapter_options }: ProviderSpec): string[] => {
  const scopes = adapter_options?.scopes ?? DEFAULT_SCOPES;
  if (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')) return scopes;
  throw new Invalid('adapter_options.scopes must be a list of strings');
};

/** A string option, such as one that is part of the adapter's default address. */
export const readTextOption = ({ adapter_options }: ProviderSpec, key: string): string | undefined => {
  const value = adapter_options?.[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new Invalid(`adapter_options.${key} must be a string`);
};

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  model_discovery_schema: ['openai', 'openai-compatible', 'openrouter', 'gemini', 'google'],
  model_discovery_auth: [
    'bearer',
    'authorization-bearer',
    'x-goog-api-key',
    'google-api-key',
    'gemini-api-key',
    'none',
    'no-auth',
    'disabled',
  ],
};

/** Checks every option that has a rule, whether or not it is used. `adapter`: the canonical name. */
export const checkOptions = (spec: ProviderSpec, adapter: string): void => {
  if (spec.base_url) checkBaseUrl(spec.base_url);
  mayUseEnvironment(spec);
  readScopes(spec);
  readHeaders(spec);
  if (spec.api_key && readCredentialsKind(spec) === 'bearer') sendableKey(spec.api_key, 'api_key');
  if (readCredentialsKind(spec) === 'service_account_json' && adapter !== 'vertex') {
    throw new Invalid(
      `credentials_kind 'service_account_json' requires adapter ∈ [vertex]; got '${spec.adapter}'`,
    );
  }
  for (const [key, choices] of Object.entries(CHOICES)) {
    const given = spec.adapter_options?.[key];
    if (given === undefined || given === null) continue;
    if (typeof given === 'string' && choices.includes(given.trim().toLowerCase())) continue;
    throw new Invalid(
      `adapter_options.${key} must be one of ${choices.join(', ')}, got ${describeValue(given)}`,
    );
  }
};

/** Checks an option that only one adapter reads. @throws Invalid */
export const checkAdapterOption = (
  spec: ProviderSpec,
  { name, choices, isObject: wantsObject = false }: Pick<AdapterOption, 'name' | 'choices' | 'isObject'>,
): void => {
  const given = spec.adapter_options?.[name];
  if (wantsObject) {
    if (given === undefined || given === null || isObject(given)) return;
    throw new Invalid(`adapter_options.${name} must be an object`);
  }
  const text = readTextOption(spec, name);
  if (text === undefined || !choices || choices.includes(text)) return;
  throw new Invalid(
    `adapter_options.${name} must be one of ${choices.join(', ')}, got ${describeValue(text)}`,
  );
};
