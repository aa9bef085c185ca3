import type { JsonObject } from '../schema/json.ts';
import type { ProviderSpec } from '../schema/model.ts';
import type { Structured } from './model.ts';
import type { ListSchema } from './model-list.ts';
import type { AdapterOption, Environment } from './provider-options.ts';
import type { TokenDeps } from './token-source.ts';
import type { Endpoint } from './wire-model.ts';

/** The type of the rows of `adapters.ts`, and of the connection that a row is given. */

export type Connection = {
  /** Ends with `/`. */
  baseURL: string;
  /** Empty where the service also answers without one, or where other credentials take its place. */
  apiKey: string;
  /** Sent with every request, in addition to those of the format. */
  headers: Record<string, string>;
  /** Empty unless the spec allows credentials of the environment, and they may go to `baseURL`. */
  env: Environment;
  tokens: TokenDeps;
};

export type AdapterRow = {
  /** Where the service is unless the spec names another address; undefined where the spec has to name one. */
  baseUrl: string | ((spec: ProviderSpec, env: Environment) => string | undefined);
  /** The option that `baseUrl` depends on, where the service has no address without it. */
  homeOption?: string;
  /** The part of a given address that the paths of the format are added to. */
  rootOf?(baseURL: string, spec: ProviderSpec): string;
  keyVariable: string;
  /** Holds the address that the key of `keyVariable` belongs to; by default `<COMPANY>_BASE_URL`. */
  addressVariable?: string;
  /** The service also answers without a key. */
  keyOptional?: boolean;
  /** Credentials in place of a key. */
  credentials?: {
    /** Whether the options contain them. */
    areIn(spec: ProviderSpec): boolean;
    /** Secrets among the variables of the environment that the adapter reads. */
    variables: readonly string[];
    /** Hosts of the company, to which credentials of the environment may be sent. */
    hosts: RegExp;
  };
  /** Page about the API, for the operator who sets up a provider. */
  docs: string;
  /** The list of models; absent where the service has none that is read. */
  list?: {
    schema: ListSchema;
    /** By default `models` below the base URL. */
    url?(baseURL: string): string;
    /** The list is requested with the headers of an inference. */
    isAuthorizedAsInference?: boolean;
  };
  /** Options that only this adapter reads. */
  options?: readonly AdapterOption[];
  /** Checks options that depend on each other. @throws Invalid */
  check?(spec: ProviderSpec): void;
  /** Whether the service has a field for the schema of an answer, and takes tools in the same request. */
  structured?(of: {
    schema: JsonObject;
    upstream: string;
    host: string;
    spec: ProviderSpec;
  }): Structured | undefined;
  /** @throws Invalid when an option is broken or credentials are missing */
  connect(connection: Connection, spec: ProviderSpec): Pick<Endpoint, 'wire' | 'headers' | 'renew'>;
};

/** Where an adapter sends its requests unless the spec names another address. */
export const homeOf = ({ baseUrl }: AdapterRow, spec: ProviderSpec, env: Environment): string | undefined =>
  typeof baseUrl === 'string' ? baseUrl : baseUrl(spec, env);
