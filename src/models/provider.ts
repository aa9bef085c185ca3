import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import { hintOf } from '../schema/nearest.ts';
import { Invalid } from '../schema/outcome.ts';
import { type AdapterRow, type Connection, defaultBaseUrl } from './adapter-row.ts';
import { ADAPTERS } from './adapters.ts';
import { checkConnection, resolveConnection } from './connection.ts';
import type { Model, Provider } from './model.ts';
import { checkAdapterOption, checkOptions, type Environment, timeoutSecondsOf } from './provider-options.ts';
import { createScriptedProvider } from './scripted.ts';
import type { TokenDeps } from './token-source.ts';
import type { Transport } from './transport/types.ts';
import type { Endpoint, WireModelOptions } from './wire-model.ts';

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['openai-resp', 'openai_resp'],
  ['responses', 'openai_resp'],
]);

const ROWS: ReadonlyMap<string, AdapterRow> = new Map(Object.entries(ADAPTERS));

/** The list in `capabilities.supported_adapters`; `scripted` is accepted but not listed (agent-loop.md 10). */
export const SUPPORTED_ADAPTERS: readonly string[] = [...ROWS.keys()];

/** Environment variables that may contain provider secrets. */
export const KEY_VARIABLES: readonly string[] = Array.from(
  new Set(
    [...ROWS.values()].flatMap(({ keyVariable, credentials }) => [
      keyVariable,
      ...(credentials?.variables ?? []),
    ]),
  ),
);

type AdapterDefaults = {
  name: string;
  /** Null if the spec must name it or it depends on options. */
  base_url: string | null;
  key_variable: string;
  key_optional: boolean;
  docs_url: string;
  /** Page on which users create keys. */
  key_url: string | null;
  /** Whether the service has a list of models that the provider test and the discovery of limits can read. */
  lists_models: boolean;
  /** Whether they read it only for providers whose options name its schema. */
  lists_models_on_request: boolean;
  /** The adapter of the same service that users should choose first. */
  variant_of: string | null;
  options: { name: string; is_secret: boolean; choices?: string[] }[];
};

/** The defaults and options of each adapter. */
export const ADAPTER_DEFAULTS: Readonly<Record<string, AdapterDefaults>> = Object.fromEntries(
  Array.from(ROWS, ([id, { baseUrl, keyOptional = false, list, options = [], ...row }]) => [
    id,
    {
      name: row.name,
      base_url: typeof baseUrl === 'string' ? baseUrl : null,
      key_variable: row.keyVariable,
      key_optional: keyOptional,
      docs_url: row.docs,
      key_url: row.keyPage ?? null,
      lists_models: list !== undefined && !list.onRequest,
      lists_models_on_request: list?.onRequest === true,
      variant_of: row.variantOf ?? null,
      options: options.map(({ name: option, isSecret = false, choices }) => ({
        name: option,
        is_secret: isSecret,
        ...(choices && { choices: [...choices] }),
      })),
    },
  ]),
);

/** The host that receives inferences; undefined for a provider without one. */
export const resolveHost = (spec: ProviderSpec): string | undefined => {
  const row = ROWS.get(adapterName(spec.adapter));
  const address = row && (spec.base_url || defaultBaseUrl(row, spec, {}));
  return address && URL.canParse(address) ? new URL(address).host : undefined;
};

/** The canonical name of an adapter. */
export const adapterName = (adapter: string): string => {
  const name = adapter.trim().toLowerCase();
  return ALIASES.get(name) ?? name;
};

export const unsupportedAdapter = ({ adapter }: Pick<ProviderSpec, 'adapter'>): Invalid =>
  new Invalid(
    `unsupported provider adapter: ${adapter}${hintOf(adapterName(adapter), 'supported', SUPPORTED_ADAPTERS)}`,
  );

/**
 * Checks whether a provider would be usable with the right environment. Sends nothing.
 *
 * @throws Invalid
 */
export const checkUsable = (spec: ProviderSpec): void => {
  const name = adapterName(spec.adapter);
  if (name === 'scripted') return;
  const row = ROWS.get(name);
  if (!row) throw unsupportedAdapter(spec);
  checkConnection(row, spec);
};

/** Checks every option that has a rule, whether or not it is used, even for an unsupported adapter. @throws Invalid */
export const checkProviderOptions = (spec: ProviderSpec): void => {
  const name = adapterName(spec.adapter);
  checkOptions(spec, name);
  const row = ROWS.get(name);
  for (const option of row?.options ?? []) checkAdapterOption(spec, option);
  row?.check?.(spec);
};

/** Resolves the row and the connection of a provider. @throws Invalid */
export const connect = (
  spec: ProviderSpec,
  deps: { env: Environment; tokens: TokenDeps },
): { row: AdapterRow; connection: Connection } & Omit<Endpoint, 'baseURL'> => {
  const row = ROWS.get(adapterName(spec.adapter));
  if (!row) throw unsupportedAdapter(spec);
  checkProviderOptions(spec);
  const connection = resolveConnection(row, spec, deps);
  return { row, connection, ...row.connect(connection, spec) };
};

/**
 * Creates a provider from its spec. Sends nothing before the first inference.
 *
 * Throws `Invalid` when the adapter is unknown, no permitted key exists, or an option is malformed.
 *
 * @example
 * const transport = createTransport({ env: process.env });
 * const provider = createProvider({ id: 'p', adapter: 'openai', api_key: 'sk-…' }, process.env, transport);
 * const model = provider.model({ id: 'm', provider_id: 'p', upstream_model: 'gpt-5.6' });
 */
export const createProvider = (spec: ProviderSpec, env: Environment, transport: Transport): Provider => {
  const name = adapterName(spec.adapter);
  if (name === 'scripted') return createScriptedProvider(spec);
  const tokens = { text: transport.text, now: () => Date.now() };
  const { row, connection, wire, headers, renew } = connect(spec, { env, tokens });
  const endpoint: Endpoint = { baseURL: connection.baseURL, headers, wire, ...(renew && { renew }) };
  const host = new URL(connection.baseURL).hostname;
  const timeoutSeconds = timeoutSecondsOf(spec);
  return {
    id: spec.id,
    model: (model) => ({
      ...loadedModel(endpoint, model, { provider: spec.id, adapter: name, timeoutSeconds, transport }),
      structured: (schema, upstream = model.upstream_model) =>
        row.structured?.({ schema, upstream, host, spec }),
    }),
  };
};

/** The first inference loads the code that all wire formats share, and the format of its provider. */
const loadedModel = (endpoint: Endpoint, spec: ModelSpec, options: WireModelOptions): Model => {
  let loaded: Model | undefined;
  return {
    id: spec.id,
    provider: options.provider,
    upstream: spec.upstream_model,
    async stream(request, sink, signal) {
      loaded ??= (await import('./wire-model.ts')).createWireModel(endpoint, spec, options);
      return loaded.stream(request, sink, signal);
    },
  };
};
