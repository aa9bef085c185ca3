import type { ProviderSpec } from '../schema/model.ts';
import { Invalid } from '../schema/outcome.ts';
import { isWithin } from '../schema/web-address.ts';
import { type AdapterRow, type Connection, homeOf } from './adapter-row.ts';
import {
  baseUrlOf,
  credentialsKindOf,
  type Environment,
  headersOf,
  mayUseEnvironment,
  sendableKey,
} from './provider-options.ts';
import type { TokenDeps } from './token-source.ts';

/**
 * The address of a provider, and the credentials of its requests (agent-loop.md 10).
 *
 * Guarantees: credentials of the environment are read only where the spec allows them, and are sent only to the company
 * that their variables are named for, or to the address of the variable that belongs to them.
 */

/** @throws Invalid when the spec has no address, or no credentials that may be sent to it */
export const connectionOf = (
  row: AdapterRow,
  spec: ProviderSpec,
  { env, tokens }: { env: Environment; tokens: TokenDeps },
): Connection => {
  const permitted = mayUseEnvironment(spec) ? env : NONE;
  const address = addressOf(row, spec, permitted);
  const apiKey = apiKeyOf(row, spec, permitted);
  const isGiven = apiKey !== '' || row.credentials?.areIn(spec) === true;
  if (!isGiven && row.credentials) checkPlace(row, spec, permitted);
  return { ...address, apiKey, headers: headersOf(spec), env: isGiven ? NONE : permitted, tokens };
};

const NONE: Environment = {};

/** @throws Invalid */
export const addressOf = (
  row: AdapterRow,
  spec: ProviderSpec,
  env: Environment,
): Pick<Connection, 'baseURL'> => {
  const home = homeOf(row, spec, env);
  if (!spec.base_url && home === undefined) throw withoutAddress(row, spec);
  const given = baseUrlOf(spec, home ?? '');
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
  if (!spec.base_url && homeOf(row, spec, NONE) === undefined && !mayComeFromEnvironment) {
    throw withoutAddress(row, spec);
  }
};

/** @throws Invalid when there is no key, and none may be taken from elsewhere */
const requireKey = ({ keyOptional, credentials }: AdapterRow, spec: ProviderSpec): void => {
  if (spec.api_key) return;
  if (credentialsKindOf(spec) === 'service_account_json') {
    throw new Invalid("credentials_kind 'service_account_json' requires api_key with the JSON key");
  }
  if (mayUseEnvironment(spec) || keyOptional || credentials?.areIn(spec)) return;
  throw new Invalid(
    "credentials_kind 'bearer' requires api_key unless adapter_options.allow_env_credentials is true",
  );
};

/** Empty where the service needs none, or other credentials take its place. */
const apiKeyOf = (row: AdapterRow, spec: ProviderSpec, env: Environment): string => {
  requireKey(row, spec);
  if (spec.api_key) {
    // The document of a service account is never sent.
    return credentialsKindOf(spec) === 'bearer' ? sendableKey(spec.api_key, 'api_key') : spec.api_key;
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

/** @throws Invalid for an address that credentials of the environment may not be sent to */
const checkPlace = (row: AdapterRow, spec: ProviderSpec, env: Environment): void => {
  const { keyVariable: variable, addressVariable, credentials } = row;
  const { id, base_url } = spec;
  const home = homeOf(row, spec, env);
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
