import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import { isWithin } from '../schema/web-address.ts';
import { type AdapterRow, type Connection, defaultBaseUrl } from './adapter-row.ts';
import {
  type Environment,
  mayUseEnvironment,
  readBaseUrl,
  readCredentialsKind,
  readHeaders,
  sendableKey,
} from './provider-options.ts';
import type { TokenDeps } from './token-source.ts';

/**
 * The address of a provider and the credentials of its requests (agent-loop.md 10).
 *
 * Guarantees: credentials from the environment are read only if the spec allows them, and are sent only to the company
 * that their variables are named after, or to the address in the variable that belongs to them.
 */

/** @throws Invalid when the spec has no address, or no credentials that may be sent to it */
export const resolveConnection = (
  row: AdapterRow,
  spec: ProviderSpec,
  { env, tokens }: { env: Environment; tokens: TokenDeps },
): Connection => {
  const permitted = mayUseEnvironment(spec) ? env : NONE;
  const address = resolveAddress(row, spec, permitted);
  const apiKey = apiKeyOf(row, spec, permitted);
  const isGiven = apiKey !== '' || row.credentials?.areIn(spec) === true;
  if (!isGiven && row.credentials) checkPlace(row, spec, permitted);
  return { ...address, apiKey, headers: readHeaders(spec), env: isGiven ? NONE : permitted, tokens };
};

const NONE: Environment = {};

/** @throws Invalid */
export const resolveAddress = (
  row: AdapterRow,
  spec: ProviderSpec,
  env: Environment,
): Pick<Connection, 'baseURL'> => {
  const home = defaultBaseUrl(row, spec, env);
  if (!spec.base_url && home === undefined) throw withoutAddress(row, spec);
  const given = readBaseUrl(spec, home ?? '');
  return { baseURL: row.rootOf?.(given, spec) ?? given };
};

const withoutAddress = ({ homeOption }: AdapterRow, { adapter }: ProviderSpec): Invalid =>
  new Invalid(
    `adapter '${adapter}' requires base_url${homeOption === undefined ? '' : ` or adapter_options.${homeOption}`}`,
  );

/** Checks a spec without the environment. @throws Invalid */
export const checkConnection = (row: AdapterRow, spec: ProviderSpec): void => {
  requireKey(row, spec);
  const mayComeFromEnvironment = row.credentials !== undefined && mayUseEnvironment(spec);
  if (!spec.base_url && defaultBaseUrl(row, spec, NONE) === undefined && !mayComeFromEnvironment) {
    throw withoutAddress(row, spec);
  }
};

/** @throws Invalid when there is no key and none may be read from another place */
const requireKey = ({ keyOptional, credentials }: AdapterRow, spec: ProviderSpec): void => {
  if (spec.api_key) return;
  if (readCredentialsKind(spec) === 'service_account_json') {
    throw new Invalid("credentials_kind 'service_account_json' requires api_key with the JSON key");
  }
  if (mayUseEnvironment(spec) || keyOptional || credentials?.areIn(spec)) return;
  throw new Invalid(
    "credentials_kind 'bearer' requires api_key unless adapter_options.allow_env_credentials is true",
  );
};

/** Returns an empty string if the service needs no key, or other credentials replace it. */
const apiKeyOf = (row: AdapterRow, spec: ProviderSpec, env: Environment): string => {
  requireKey(row, spec);
  if (spec.api_key) {
    // The JSON key of a service account is never sent, so it need not fit into a header.
    return readCredentialsKind(spec) === 'bearer' ? sendableKey(spec.api_key, 'api_key') : spec.api_key;
  }
  if (row.credentials?.areIn(spec)) return '';
  const { keyVariable: variable } = row;
  const key = env[variable]?.trim();
  if (key) {
    checkPlace(row, spec, env);
    return sendableKey(key, `the environment variable ${variable}`);
  }
  if (row.keyOptional || row.credentials) return '';
  throw new Invalid(
    `provider '${spec.id}' has no api_key and the environment variable ${variable} is not set`,
  );
};

/** @throws Invalid for an address to which credentials from the environment may not be sent */
const checkPlace = (row: AdapterRow, spec: ProviderSpec, env: Environment): void => {
  const { keyVariable: variable, addressVariable, credentials } = row;
  const { id, base_url } = spec;
  const home = defaultBaseUrl(row, spec, env);
  if (!base_url || (home !== undefined && isWithin(base_url, new URL(home).origin))) return;
  if (credentials && isHostOf(base_url, credentials.hosts)) return;
  const pair = addressVariable ?? variable.replace(/_(API_KEY|TOKEN)$/, '_BASE_URL');
  const paired = env[pair]?.trim();
  if (paired && isWithin(base_url, paired)) return;
  const company = home === undefined ? undefined : new URL(home).host;
  const places = [company ?? (credentials && 'the hosts of its company'), pair]
    .filter(Boolean)
    .join(' or to ');
  throw new Invalid(
    `provider '${id}': ${variable} is only sent to ${places}, not to the host of base_url; give the key of that host in 'api_key'`,
  );
};

const isHostOf = (address: string, hosts: RegExp): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' && hosts.test(hostname);
};
