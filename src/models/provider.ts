import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import { hintOf } from '../schema/nearest.ts';
import { Invalid } from '../schema/outcome.ts';
import { type AdapterRow, type Connection, homeOf } from './adapter-row.ts';
import { ADAPTERS } from './adapters.ts';
import { checkConnection, connectionOf } from './connection.ts';
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

/** What `capabilities.supported_adapters` lists; `scripted` is accepted but not listed (agent-loop.md 10). */
export const SUPPORTED_ADAPTERS: readonly string[] = [...ROWS.keys()];

/** The variables that may hold secrets of providers. */
export const KEY_VARIABLES: readonly string[] = Array.from(
  new Set(
    [...ROWS.values()].flatMap(({ keyVariable, credentials }) => [
      keyVariable,
      ...(credentials?.variables ?? []),
    ]),
  ),
);

type AdapterDefaults = {
  /** Null where the spec has to name it, or where it depends on options. */
  base_url: string | null;
  key_variable: string;
  key_optional: boolean;
  docs_url: string;
  /** Whether the service has a list of models that the provider test and the discovery of limits read. */
  lists_models: boolean;
  options: { name: string; is_secret: boolean; choices?: string[] }[];
};

/** The defaults of each adapter, and its options. */
export const ADAPTER_DEFAULTS: Readonly<Record<string, AdapterDefaults>> = Object.fromEntries(
  Array.from(ROWS, ([name, { baseUrl, keyVariable, keyOptional = false, docs, list, options = [] }]) => [
    name,
    {
      base_url: typeof baseUrl === 'string' ? baseUrl : null,
      key_variable: keyVariable,
      key_optional: keyOptional,
      docs_url: docs,
      lists_models: list !== undefined,
      options: options.map(({ name: option, isSecret = false, choices }) => ({
        name: option,
        is_secret: isSecret,
        ...(choices && { choices: [...choices] }),
      })),
    },
  ]),
);

/** The host that inferences are sent to; nothing for a provider without one. */
export const hostOf = (spec: ProviderSpec): string | undefined => {
  const row = ROWS.get(adapterName(spec.adapter));
  const address = row && (spec.base_url || homeOf(row, spec, {}));
  return address && URL.canParse(address) ? new URL(address).host : undefined;
};

/** The one spelling of an adapter's name. */
export const adapterName = (adapter: string): string => {
  const name = adapter.trim().toLowerCase();
  return ALIASES.get(name) ?? name;
};

export const unsupportedAdapter = ({ adapter }: Pick<ProviderSpec, 'adapter'>): Invalid =>
  new Invalid(
    `unsupported provider adapter: ${adapter}${hintOf(adapterName(adapter), 'supported', SUPPORTED_ADAPTERS)}`,
  );

/**
 * Whether a provider could be connected to with the right environment. Nothing is sent.
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

/** Every option that has a rule, whether or not it is read; also of an adapter that is not supported. @throws Invalid */
export const checkProviderOptions = (spec: ProviderSpec): void => {
  const name = adapterName(spec.adapter);
  checkOptions(spec, name);
  const row = ROWS.get(name);
  for (const option of row?.options ?? []) checkAdapterOption(spec, option);
  row?.check?.(spec);
};

/** The row and the connection of a provider. @throws Invalid */
export const connect = (
  spec: ProviderSpec,
  deps: { env: Environment; tokens: TokenDeps },
): { row: AdapterRow; connection: Connection } & Omit<Endpoint, 'baseURL'> => {
  const row = ROWS.get(adapterName(spec.adapter));
  if (!row) throw unsupportedAdapter(spec);
  checkProviderOptions(spec);
  const connection = connectionOf(row, spec, deps);
  return { row, connection, ...row.connect(connection, spec) };
};

/**
 * Connects to a provider as its spec says; nothing is sent before the first inference.
 *
 * Throws `Invalid` when the adapter is unknown, there is no key it may use, or an option is broken.
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

/** The first inference loads what all wire formats share, and the format of its provider. */
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
