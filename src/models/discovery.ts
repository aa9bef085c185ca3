import { createHash } from 'node:crypto';
import { type Clock, monotonic } from '../schema/clock.ts';
import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import { BOUNDS } from './bounds.ts';
import type { Capabilities } from './capabilities.ts';
import { addressOf, createListRequest, type ListRequest, sendListRequest } from './list-request.ts';
import { type ModelList, needsModelList, parseModelList } from './model-list.ts';
import { type Environment, timeoutSecondsOf } from './provider-options.ts';
import type { Transport } from './transport/types.ts';
import { listName } from './upstream-name.ts';

/**
 * Reads the model lists of providers (config.md 7.1).
 *
 * Guarantees: `look` never throws; its findings take effect only with `keep`, so that a publish that fails leaves no
 * trace; the list of a provider expires after 12 hours, and does not apply to another definition or key of the
 * provider. Relies on nothing: a list is at most 8 MiB and is read as untrusted input.
 * Cost: one request per provider, if an entry of its models is incomplete and the list is not cached.
 */
export type DiscoveryResult =
  | { kind: 'not_needed' }
  /** `of`: the capabilities of a model in the list. `keep`: caches the list after a successful publish. */
  | { kind: 'found'; of(model: ModelSpec): Capabilities; keep(): void }
  /** `problem`: text for the log. */
  | { kind: 'failed'; problem: string };

export type Discovery = {
  look(provider: ProviderSpec, models: readonly ModelSpec[]): Promise<DiscoveryResult>;
  /** The capabilities of a model in the cached list; sends no request. */
  known(provider: ProviderSpec, model: ModelSpec): Capabilities;
};

const KEPT_MS = 12 * 3_600_000;
const LONGEST_TIMEOUT_SECONDS = 30;

type Kept = { definition: string; list: ModelList; until: number };

export type DiscoveryDeps = { clock: Clock; env: Environment; transport: Pick<Transport, 'text'> };

export const createDiscovery = ({ clock, env, transport }: DiscoveryDeps): Discovery => {
  const kept = new Map<string, Kept>();
  const tokens = { text: transport.text, now: () => clock.now() };

  /** A key from the environment belongs to the definition too. */
  const definitionOf = (spec: ProviderSpec, request: ListRequest): string =>
    createHash('sha256')
      .update(JSON.stringify([spec, request.url.href, [...request.headers]]))
      .digest('base64');

  const keep = (id: string, entry: Kept): void => {
    for (const [other, { until }] of kept) if (until <= monotonic(clock)) kept.delete(other);
    kept.set(id, entry);
  };

  const current = (id: string, definition: string): Kept | undefined => {
    const entry = kept.get(id);
    return entry?.definition === definition && monotonic(clock) < entry.until ? entry : undefined;
  };

  const requestOf = (spec: ProviderSpec): ListRequest | undefined => {
    try {
      return createListRequest(spec, { env, tokens });
    } catch {
      // An invalid definition is reported where it is used, and it never had a cached list.
      return undefined;
    }
  };

  const lookFor = async (spec: ProviderSpec, models: readonly ModelSpec[]): Promise<DiscoveryResult> => {
    const request = createListRequest(spec, { env, tokens });
    if (!request || !models.some((model) => needsModelList(request.schema, model))) {
      return { kind: 'not_needed' };
    }
    const definition = definitionOf(spec, request);
    const entry = current(spec.id, definition) ?? {
      definition,
      list: await readList(transport, request, timeoutSecondsOf(spec)),
      until: monotonic(clock) + KEPT_MS,
    };
    return {
      kind: 'found',
      of: (model) => findCapabilities(entry.list, model),
      keep: () => keep(spec.id, entry),
    };
  };

  return {
    look: (provider, models) =>
      lookFor(provider, models).catch((error: unknown) => ({
        kind: 'failed',
        problem: error instanceof Error ? error.message : String(error),
      })),
    known(provider, model) {
      if (!kept.has(provider.id)) return {};
      const request = requestOf(provider);
      const entry = request && current(provider.id, definitionOf(provider, request));
      return entry ? findCapabilities(entry.list, model) : {};
    },
  };
};

const findCapabilities = (list: ModelList, { upstream_model }: ModelSpec): Capabilities =>
  list.get(listName(upstream_model)) ?? {};

/** @throws Error */
const readList = async (
  transport: Pick<Transport, 'text'>,
  request: ListRequest,
  timeoutSeconds: number,
): Promise<ModelList> => {
  const seconds = Math.min(timeoutSeconds, LONGEST_TIMEOUT_SECONDS);
  const signal = AbortSignal.timeout(seconds * 1000);
  const { status, body } = await sendListRequest(transport, request, { most: BOUNDS.listBytes, signal });
  const failure = (problem: string): Error => new Error(`${addressOf(request.url)}: ${problem}`);
  if (status >= 300) throw failure(`status ${status}`);
  try {
    return parseModelList(request.schema, JSON.parse(body));
  } catch (error) {
    throw failure(error instanceof SyntaxError ? 'the response is not JSON' : String(error));
  }
};
