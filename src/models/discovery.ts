import { createHash } from 'node:crypto';
import { type Clock, monotonic } from '../schema/clock.ts';
import type { ModelSpec, ProviderSpec } from '../schema/model.ts';
import { BOUNDS } from './bounds.ts';
import type { Capabilities } from './capabilities.ts';
import { addressOf, type ListRequest, listRequestOf, sendListRequest } from './list-request.ts';
import { lacksWhatListsTell, type ModelList, parseModelList } from './model-list.ts';
import { type Environment, timeoutSecondsOf } from './provider-options.ts';
import type { Transport } from './transport/types.ts';
import { listName } from './upstream-name.ts';

/**
 * What providers tell of their models (config.md 7.1).
 *
 * Guarantees: `look` never throws; nothing that it finds is known to others before `keep`, so that a publish that
 * fails leaves no trace; what is known of a provider is forgotten after 12 hours, and does not hold for another
 * definition or key of it. Relies on nothing: a list is at most 8 MiB, and read as untrusted input.
 * Costs one request a provider, where an entry of its models leaves something open and the list is not known yet.
 */
export type Looked =
  | { kind: 'not_needed' }
  /** `of`: what the list says of the model. `keep`: the publish has succeeded. */
  | { kind: 'found'; of(model: ModelSpec): Capabilities; keep(): void }
  /** For the log. */
  | { kind: 'failed'; problem: string };

export type Discovery = {
  look(provider: ProviderSpec, models: readonly ModelSpec[]): Promise<Looked>;
  /** Without a request: what the list that was kept last says of the model. */
  known(provider: ProviderSpec, model: ModelSpec): Capabilities;
};

const KEPT_MS = 12 * 3_600_000;
const LONGEST_TIMEOUT_SECONDS = 30;

type Kept = { definition: string; list: ModelList; until: number };

export type DiscoveryDeps = { clock: Clock; env: Environment; transport: Pick<Transport, 'text'> };

export const createDiscovery = ({ clock, env, transport }: DiscoveryDeps): Discovery => {
  const kept = new Map<string, Kept>();
  const tokens = { text: transport.text, now: () => clock.now() };

  /** A key that comes from the environment belongs to the definition too. */
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
      return listRequestOf(spec, { env, tokens });
    } catch {
      // A definition that is broken now is told where it is used; no list was ever kept of it.
      return undefined;
    }
  };

  const lookFor = async (spec: ProviderSpec, models: readonly ModelSpec[]): Promise<Looked> => {
    const request = listRequestOf(spec, { env, tokens });
    if (!request || !models.some((model) => lacksWhatListsTell(request.schema, model))) {
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
      of: (model) => saidOf(entry.list, model),
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
      return entry ? saidOf(entry.list, model) : {};
    },
  };
};

const saidOf = (list: ModelList, { upstream_model }: ModelSpec): Capabilities =>
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
    throw failure(error instanceof SyntaxError ? 'the answer is not JSON' : String(error));
  }
};
