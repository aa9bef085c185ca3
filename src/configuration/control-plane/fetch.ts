import { isDeepStrictEqual } from 'node:util';
import type { Discovery, DiscoveryResult } from '../../models/discovery.ts';
import type { ConfigNamespace } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { McpServerSpec } from '../../schema/mcp-server.ts';
import { ModelSpec, ProviderSpec } from '../../schema/model.ts';
import { maskForeign } from '../../schema/redaction/foreign.ts';
import { secretsOf } from '../../schema/redaction/masking.ts';
import { withTimeout } from '../../schema/with-timeout.ts';
import { invalidPayload } from '../namespaces/namespace.ts';
import type { McpConnection, McpServers } from './servers.ts';
import type { Fetched } from './settlement.ts';
import type { Stored } from './stored.ts';

/**
 * Fetches external data for a write before it takes the lock, so that a slow server does not block other writes
 * (config.md 7). A write waits only briefly for a list of models; a later result takes effect with the next refresh.
 */

export type Prefetch = {
  fetched: Fetched;
  /** Called when the write was rejected. */
  discard(): void;
  /** Called when the write is live. */
  keep(): void;
};

export type FetchDeps = {
  mcp: McpServers | undefined;
  discovery: Discovery;
  log: Pick<ServiceLog, 'warn'>;
  /** Called when a late list of models was stored. */
  modelsChanged(): void;
};

const LIST_WAIT_MS = 3000;

const NOTHING: Prefetch = { fetched: {}, discard() {}, keep() {} };

export const createFetch = (deps: FetchDeps) => ({
  /** @throws Invalid when a new server cannot be reached */
  async prefetch(namespace: ConfigNamespace, spec: JsonObject, stored: Stored): Promise<Prefetch> {
    if (namespace === 'mcp-servers') return connect(deps, spec, stored[namespace].get(String(spec.id))?.spec);
    if (namespace === 'models') {
      const model = ModelSpec.safeParse(spec).data;
      const provider = model && providerIn(stored, model.provider_id);
      return provider ? discover(deps, provider, [model]) : NOTHING;
    }
    if (namespace === 'providers') {
      const provider = ProviderSpec.safeParse(spec).data;
      return provider ? discover(deps, provider, modelsOf(stored, provider.id)) : NOTHING;
    }
    return NOTHING;
  },
  /** Fetches the models of all providers at a start; never fails. */
  async all(providers: readonly ProviderSpec[], models: readonly ModelSpec[]): Promise<void> {
    const found = await Promise.all(
      providers.map(async (provider) => {
        const own = models.filter(({ provider_id }) => provider_id === provider.id);
        const result = await deps.discovery.look(provider, own);
        logFailure(deps, provider, result);
        if (result.kind === 'found') result.keep();
        return result.kind === 'found';
      }),
    );
    if (found.includes(true)) deps.modelsChanged();
  },
});

const connect = async (
  { mcp }: FetchDeps,
  spec: JsonObject,
  stored: JsonObject | undefined,
): Promise<Prefetch> => {
  if (!mcp || (stored && isDeepStrictEqual(stored, spec))) return NOTHING;
  const server = McpServerSpec.parse(spec);
  let connection: McpConnection;
  try {
    connection = await mcp.connect(server);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidPayload(
      `invalid managed config: failed to connect MCP servers: ${server.id}: ${maskForeign(reason, secretsOf(spec))}`,
      cause,
    );
  }
  const { tools, discard } = connection;
  return { fetched: { connected: { server: server.id, tools } }, discard, keep() {} };
};

const discover = async (
  deps: FetchDeps,
  provider: ProviderSpec,
  models: readonly ModelSpec[],
): Promise<Prefetch> => {
  const { discovery, log, modelsChanged } = deps;
  const pending = discovery.look(provider, models);
  let isRejected = false;
  let isLive = false;
  let isLate = false;
  pending
    .then((result) => {
      logFailure(deps, provider, result);
      if (!isLate || isRejected || result.kind !== 'found') return;
      result.keep();
      if (isLive) modelsChanged();
    })
    .catch((err) => log.warn('config.discovery_not_applied', { err }));
  const result = await withTimeout(pending, LIST_WAIT_MS);
  isLate = result === undefined;
  return {
    fetched:
      result?.kind === 'found'
        ? { models: { provider: provider.id, of: (_, model) => result.of(model) } }
        : {},
    discard() {
      isRejected = true;
    },
    keep() {
      isLive = true;
      if (result?.kind === 'found') result.keep();
    },
  };
};

const logFailure = (
  { log }: Pick<FetchDeps, 'log'>,
  provider: ProviderSpec,
  result: DiscoveryResult,
): void => {
  if (result.kind !== 'failed') return;
  const problem = maskForeign(result.problem, secretsOf(jsonOf(provider)));
  log.warn('config.model_list_failed', { provider: provider.id, problem });
};

/** A provider spec is JSON. */
const jsonOf = (spec: ProviderSpec): JsonObject => ({ ...spec }) as JsonObject;

const providerIn = (stored: Stored, id: string): ProviderSpec | undefined =>
  ProviderSpec.safeParse(stored.providers.get(id)?.spec).data;

const modelsOf = (stored: Stored, provider: string): ModelSpec[] =>
  [...stored.models.values()].flatMap(({ spec }) =>
    spec.provider_id === provider ? (ModelSpec.safeParse(spec).data ?? []) : [],
  );
