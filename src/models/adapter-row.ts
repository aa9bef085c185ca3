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
  /** Empty if the service works without a key, or if other credentials replace it. */
  apiKey: string;
  /** Sent with every request, in addition to the headers of the format. */
  headers: Record<string, string>;
  /** Empty unless the spec allows credentials from the environment and they may be sent to `baseURL`. */
  env: Environment;
  tokens: TokenDeps;
};

export type AdapterRow = {
  /** Name of the service or of the server program, for users. */
  name: string;
  /** The address unless the spec names another one; undefined if the spec must name one. */
  baseUrl: string | ((spec: ProviderSpec, env: Environment) => string | undefined);
  /** The option that `baseUrl` requires, if the service has no fixed address. */
  homeOption?: string;
  /** The part of a given address to which the paths of the format are appended. */
  rootOf?(baseURL: string, spec: ProviderSpec): string;
  keyVariable: string;
  /** The variable with the address that the key of `keyVariable` belongs to; default: `<COMPANY>_BASE_URL`. */
  addressVariable?: string;
  /** Whether the service works without a key. */
  keyOptional?: boolean;
  /** Credentials that replace a key. */
  credentials?: {
    /** Whether the options contain credentials. */
    areIn(spec: ProviderSpec): boolean;
    /** Environment variables with secrets that the adapter reads. */
    variables: readonly string[];
    /** The company's hosts, to which credentials from the environment may be sent. */
    hosts: RegExp;
  };
  /** Page about the API, for the operator who sets up a provider. */
  docs: string;
  /** Page on which users create keys; absent if there is none or its address depends on the account. */
  keyPage?: string;
  /** The list of models; absent if the service has none that Troupe reads. */
  list?: {
    schema: ListSchema;
    /** Default: `models` below the base URL. */
    url?(baseURL: string): string;
    /** The list is requested with the headers of an inference. */
    isAuthorizedAsInference?: boolean;
    /** Sent in addition. */
    headers?: Readonly<Record<string, string>>;
    /** The list is read only for providers whose options name its schema. */
    onRequest?: boolean;
  };
  /** The adapter of the same service with another API, which users should choose first. */
  variantOf?: string;
  /** Options that only this adapter reads. */
  options?: readonly AdapterOption[];
  /** Checks options that depend on each other. @throws Invalid */
  check?(spec: ProviderSpec): void;
  /** Whether the service has a field for the schema of a completion, and accepts tools in the same request. */
  structured?(of: {
    schema: JsonObject;
    upstream: string;
    host: string;
    spec: ProviderSpec;
  }): Structured | undefined;
  /** @throws Invalid when an option is malformed or credentials are missing */
  connect(connection: Connection, spec: ProviderSpec): Pick<Endpoint, 'wire' | 'headers' | 'renew'>;
};

/** The address to which an adapter sends its requests unless the spec names another one. */
export const defaultBaseUrl = (
  { baseUrl }: AdapterRow,
  spec: ProviderSpec,
  env: Environment,
): string | undefined => (typeof baseUrl === 'string' ? baseUrl : baseUrl(spec, env));
