import { isDeepStrictEqual } from 'node:util';
import type { Discovery, Looked } from '../../models/discovery.ts';
import type { ConfigNamespace } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { inTime } from '../../schema/in-time.ts';
import { McpServerSpec } from '../../schema/mcp-server.ts';
import { ModelSpec, ProviderSpec } from '../../schema/model.ts';
import { maskForeign } from '../../schema/redaction/foreign.ts';
import { secretsOf } from '../../schema/redaction/masking.ts';
import { invalidPayload } from '../namespaces/namespace.ts';
import type { Fetched } from './publisher.ts';
import type { McpConnection, McpServers } from './servers.ts';
import type { Stored } from './stored.ts';

/**
 * What a write needs from others, asked before its turn, so that a slow server holds nobody else up (config.md 7).
 * A list of models is worth a short wait: what comes later is used from the next look on.
 */

export type Ahead = {
  fetched: Fetched;
  /** The write was refused. */
  discard(): void;
  /** The write is live. */
  keep(): void;
};

export type FetchDeps = {
  mcp: McpServers | undefined;
  discovery: Discovery;
  log: { warn(data: object, text: string): void };
  /** What is known of models has become more. */
  learned(): void;
};

const LIST_WAIT_MS = 3000;

const NOTHING: Ahead = { fetched: {}, discard() {}, keep() {} };

export const createFetch = (deps: FetchDeps) => {
  const { mcp, discovery, log, learned } = deps;

  const connect = async (spec: JsonObject, stored: JsonObject | undefined): Promise<Ahead> => {
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

  const tell = (looked: Looked, provider: ProviderSpec): void => {
    if (looked.kind !== 'failed') return;
    const problem = maskForeign(looked.problem, secretsOf(jsonOf(provider)));
    log.warn({ provider: provider.id, problem }, 'the models of a provider could not be listed');
  };

  const look = async (provider: ProviderSpec, models: readonly ModelSpec[]): Promise<Ahead> => {
    const looking = discovery.look(provider, models);
    let refused = false;
    let isLive = false;
    let late = false;
    looking
      .then((looked) => {
        tell(looked, provider);
        if (!late || refused || looked.kind !== 'found') return;
        looked.keep();
        if (isLive) learned();
      })
      .catch((err) => log.warn({ err }, 'what a provider says of its models is not used'));
    const looked = await inTime(looking, LIST_WAIT_MS);
    late = looked === undefined;
    return {
      fetched:
        looked?.kind === 'found'
          ? { looked: { provider: provider.id, of: (_, model) => looked.of(model) } }
          : {},
      discard() {
        refused = true;
      },
      keep() {
        isLive = true;
        if (looked?.kind === 'found') looked.keep();
      },
    };
  };

  return {
    /** @throws Invalid when a server that is new cannot be reached */
    async ahead(namespace: ConfigNamespace, spec: JsonObject, stored: Stored): Promise<Ahead> {
      if (namespace === 'mcp-servers') return connect(spec, stored[namespace].get(String(spec.id))?.spec);
      if (namespace === 'models') {
        const model = ModelSpec.safeParse(spec).data;
        const provider = model && providerIn(stored, model.provider_id);
        return provider ? look(provider, [model]) : NOTHING;
      }
      if (namespace === 'providers') {
        const provider = ProviderSpec.safeParse(spec).data;
        return provider ? look(provider, modelsOf(stored, provider.id)) : NOTHING;
      }
      return NOTHING;
    },
    /** Of all providers, for a start; never fails. */
    async all(providers: readonly ProviderSpec[], models: readonly ModelSpec[]): Promise<void> {
      const found = await Promise.all(
        providers.map(async (provider) => {
          const own = models.filter(({ provider_id }) => provider_id === provider.id);
          const looked = await discovery.look(provider, own);
          tell(looked, provider);
          if (looked.kind === 'found') looked.keep();
          return looked.kind === 'found';
        }),
      );
      if (found.includes(true)) learned();
    },
  };
};

/** A provider spec is JSON. */
const jsonOf = (spec: ProviderSpec): JsonObject => ({ ...spec }) as JsonObject;

const providerIn = (stored: Stored, id: string): ProviderSpec | undefined =>
  ProviderSpec.safeParse(stored.providers.get(id)?.spec).data;

const modelsOf = (stored: Stored, provider: string): ModelSpec[] =>
  [...stored.models.values()].flatMap(({ spec }) =>
    spec.provider_id === provider ? (ModelSpec.safeParse(spec).data ?? []) : [],
  );
