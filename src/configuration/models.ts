import { isDeepStrictEqual } from 'node:util';
import { acceptedByAny, acceptedInput, withKnownInput } from '../models/accepted-input.ts';
import { type Capabilities, mergeCapabilities, sharedCapabilities } from '../models/capabilities.ts';
import { type KnownModel, knownModel } from '../models/catalog.ts';
import { resolvePrices, toPriceFields } from '../models/cost.ts';
import { type FileReader, withFiles } from '../models/file-input.ts';
import type { AcceptedInput, Model, Provider } from '../models/model.ts';
import { withCost } from '../models/priced.ts';
import { adapterName, createProvider } from '../models/provider.ts';
import type { Route, Routes } from '../models/route.ts';
import { withEntrySettings } from '../models/settings/layers.ts';
import type { Transport } from '../models/transport/types.ts';
import type { KnownFields, ModelSpec, PoolSpec, ProviderSpec } from '../schema/model.ts';
import type { Records } from './records.ts';
import { type Attempt, attempt, Unmet } from './unmet.ts';

/**
 * Resolves a `model_id` (agent-loop.md 1.8) to the providers, models and pools of one snapshot.
 *
 * Guarantees: equal entries of `previous` are reused, so that a publication keeps the connections of providers, and the
 * sessions and rotation of pools.
 * Cost: one comparison per entry; models and pools are built on first use.
 */

export type Target = {
  route: Route;
  /** Capabilities; for a pool, those that all members have. */
  facts: Capabilities;
  /** Accepted input; for a pool, that which any member accepts. */
  accepts: AcceptedInput;
  /** False for a model that is known not to support tools, and for a pool with such a member. */
  takesTools: boolean;
  /** The most tokens of an answer, unless a request limits them; undefined if unknown, or unknown for a member. */
  mostOutput: number | undefined;
};

export type Models = {
  /** @throws Unmet with a message such as `model not found: <id>` */
  target(modelId: string): Target;
  /**
   * Builds the selected entries and returns the faults of those that cannot be built because of their configuration.
   */
  problems(isMeant: IsMeant): readonly string[];
  /** Returns models of configured providers with an unknown limit or price. */
  gaps(): readonly ModelGap[];
  /** Returns the limits, capabilities and prices that apply to fields which the entry of a model omits. */
  known(spec: ModelSpec): KnownFields;
  /** State for the models of the next snapshot. */
  readonly built: Built;
};

export type ModelGap = { id: string; upstream: string; lacksWindow: boolean; lacksPrices: boolean };

/** Selects entries. */
export type IsMeant = (namespace: 'providers' | 'models' | 'agents', id: string) => boolean;

export type ModelsInput = {
  records: Pick<Records, 'providers' | 'models' | 'model_pools'>;
  /** Providers of the embedding program, which take precedence over records with the same id. */
  providers: readonly Provider[];
  routes: Routes;
  env: Readonly<Record<string, string | undefined>>;
  transport: Transport;
  /** If absent, no message may refer to a file. */
  files?: FileReader | undefined;
  /** Returns the data of a model in the provider's own list. */
  discovered?: (provider: ProviderSpec, model: ModelSpec) => Capabilities;
  previous?: Built | undefined;
};

type BuiltProvider = { spec: ProviderSpec | undefined; provider: Attempt<Provider> };
type BuiltModel = { spec: ModelSpec; provider: Attempt<Provider> | undefined; model: Model; route: Route };
type BuiltPool = { spec: PoolSpec; members: readonly BuiltModel[]; route: Route };

type Built = {
  readonly providers: ReadonlyMap<string, BuiltProvider>;
  readonly models: ReadonlyMap<string, Attempt<BuiltModel>>;
  readonly pools: ReadonlyMap<string, Attempt<BuiltPool>>;
};

export const createModels = (input: ModelsInput): Models => {
  const { records } = input;
  const providers = buildProviders(input);
  const facts = createFacts(providers, input.discovered);
  const entries = createEntries(input, providers, facts);
  const { specs, models, pools } = entries;
  return {
    built: { providers, models, pools },
    gaps: () => records.models.flatMap(facts.gaps),
    known: facts.known,
    problems: (isMeant) => [
      ...[...providers]
        .filter(([id]) => isMeant('providers', id))
        .flatMap(([id, { provider }]) => problemOf(`provider '${id}'`, provider)),
      ...[...specs.keys()]
        .filter((id) => isMeant('models', id))
        .flatMap((id) => problemOf(`model '${id}'`, entries.model(id))),
    ],
    target: (id) => resolveTarget(id, entries, facts),
  };
};

type Facts = {
  /** @param stated takes precedence over the list of the provider and the catalog */
  capabilities(spec: ModelSpec, stated?: Capabilities): Capabilities;
  /** Prices of the entry apply to its own upstream name, not to another one that a run selects. */
  prices(spec: ModelSpec, upstream: string): ReturnType<typeof resolvePrices>;
  takesTools(spec: ModelSpec): boolean;
  gaps(spec: ModelSpec): ModelGap[];
  known(spec: ModelSpec): KnownFields;
};

/** Combines the entry of a model with the list of its provider and the catalog. */
const createFacts = (
  providers: ReadonlyMap<string, BuiltProvider>,
  discovered: NonNullable<ModelsInput['discovered']> = () => ({}),
): Facts => {
  const catalogued = ({ provider_id }: ModelSpec, upstream: string): KnownModel | undefined => {
    const provider = providers.get(provider_id)?.spec;
    return knownModel(provider && adapterName(provider.adapter), upstream);
  };
  const prices: Facts['prices'] = (spec, upstream) =>
    resolvePrices(upstream === spec.upstream_model ? spec : {}, catalogued(spec, upstream)?.prices);
  const capabilities: Facts['capabilities'] = (spec, stated = spec) => {
    const provider = providers.get(spec.provider_id)?.spec;
    return mergeCapabilities(
      stated,
      provider && discovered(provider, spec),
      catalogued(spec, spec.upstream_model),
    );
  };
  return {
    capabilities,
    prices,
    takesTools: (spec) => catalogued(spec, spec.upstream_model)?.takes_tools !== false,
    gaps(spec) {
      const { id, upstream_model: upstream } = spec;
      const adapter = providers.get(spec.provider_id)?.spec?.adapter;
      if (adapter === undefined || adapterName(adapter) === 'scripted') return [];
      const lacksWindow = capabilities(spec).context_window === undefined;
      const lacksPrices = prices(spec, upstream) === undefined;
      return lacksWindow || lacksPrices ? [{ id, upstream, lacksWindow, lacksPrices }] : [];
    },
    known(spec) {
      const catalogPrices = catalogued(spec, spec.upstream_model)?.prices;
      return { ...capabilities(spec, {}), ...(catalogPrices && toPriceFields(catalogPrices)) };
    },
  };
};

type Entries = {
  specs: ReadonlyMap<string, ModelSpec>;
  poolSpecs: ReadonlyMap<string, PoolSpec>;
  models: Built['models'];
  pools: Built['pools'];
  model(id: string): Attempt<BuiltModel> | undefined;
  pool(id: string): Attempt<BuiltPool> | undefined;
};

/** Builds models and pools on first use; equal ones of `previous` are reused. */
const createEntries = (
  { records, routes, files, previous }: ModelsInput,
  providers: ReadonlyMap<string, BuiltProvider>,
  facts: Facts,
): Entries => {
  // No function below may reference `previous`, or each snapshot would retain all earlier ones.
  const specs = new Map(records.models.map((spec) => [spec.id, spec]));
  const models = kept(previous?.models, ({ spec, provider }) => {
    const now = specs.get(spec.id);
    return provider === providers.get(spec.provider_id)?.provider && isDeepStrictEqual(now, spec);
  });
  const model = once(models, specs, (spec): BuiltModel => {
    const provider = providers.get(spec.provider_id)?.provider;
    const bare = taken(provider, `provider not found: ${spec.provider_id}`).model(spec);
    const known = withFiles(
      withKnownInput(bare, () => facts.capabilities(spec)),
      files,
    );
    const model = withCost(withEntrySettings(known, spec), (upstream = spec.upstream_model) =>
      facts.prices(spec, upstream),
    );
    return { spec, provider, model, route: routes.model(model) };
  });

  const poolSpecs = new Map(records.model_pools.map((spec) => [spec.id, spec]));
  const pools = kept(previous?.pools, ({ spec, members }) => {
    const now = poolSpecs.get(spec.id);
    return isDeepStrictEqual(now, spec) && members.every((member) => isBuilt(member, models));
  });
  const pool = once(pools, poolSpecs, (spec): BuiltPool => {
    const members = spec.members.map(({ model_id }) =>
      taken(model(model_id), `model pool '${spec.id}' references missing model '${model_id}'`),
    );
    const byId = new Map(members.map(({ spec: { id }, model }) => [id, model]));
    return { spec, members, route: routes.pool(spec, byId) };
  });
  return { specs, poolSpecs, models, pools, model, pool };
};

const isBuilt = (member: BuiltModel, models: Built['models']): boolean => {
  const built = models.get(member.spec.id);
  return built !== undefined && 'result' in built && built.result === member;
};

/** @throws Unmet with a message such as `model not found: <id>` */
const resolveTarget = (id: string, entries: Entries, facts: Facts): Target => {
  const isModel = entries.specs.has(id);
  const isPool = entries.poolSpecs.has(id);
  if (isModel && isPool) throw new Unmet(`model id resolves to both a model and a model pool: ${id}`);
  if (!isPool) {
    const { spec, route } = taken(entries.model(id), `model not found: ${id}`);
    const capabilities = facts.capabilities(spec);
    const accepts = acceptedInput(capabilities);
    const mostOutput = mostOutputOf(spec, capabilities);
    return { route, facts: capabilities, accepts, takesTools: facts.takesTools(spec), mostOutput };
  }
  const { route, members } = taken(entries.pool(id), `model not found: ${id}`);
  const each = members.map(({ spec }) => facts.capabilities(spec));
  return {
    route,
    facts: sharedCapabilities(each),
    accepts: acceptedByAny(each),
    takesTools: members.every(({ spec }) => facts.takesTools(spec)),
    mostOutput: largest(members.map(({ spec }) => mostOutputOf(spec, facts.capabilities(spec)))),
  };
};

const mostOutputOf = ({ max_tokens }: ModelSpec, { max_output_tokens }: Capabilities): number | undefined =>
  max_tokens ?? max_output_tokens;

/** Undefined if one of them is unknown. */
const largest = (counts: readonly (number | undefined)[]): number | undefined =>
  counts.reduce((most, count) =>
    most === undefined || count === undefined ? undefined : Math.max(most, count),
  );

const buildProviders = ({
  records,
  providers: given,
  env,
  transport,
  previous,
}: ModelsInput): Map<string, BuiltProvider> => {
  const own = new Map(given.map((provider) => [provider.id, provider]));
  const built = new Map<string, BuiltProvider>();
  for (const spec of records.providers) {
    if (own.has(spec.id)) continue;
    const before = previous?.providers.get(spec.id);
    const same = before?.spec !== undefined && isDeepStrictEqual(before.spec, spec);
    built.set(
      spec.id,
      same ? before : { spec, provider: attempt(() => createProvider(spec, env, transport)) },
    );
  }
  for (const [id, provider] of own) {
    const before = previous?.providers.get(id);
    const same = before !== undefined && 'result' in before.provider && before.provider.result === provider;
    built.set(id, same ? before : { spec: undefined, provider: { result: provider } });
  }
  return built;
};

/** Returns the entries that would be built identically. */
const kept = <Entry>(
  before: ReadonlyMap<string, Attempt<Entry>> | undefined,
  isSame: (entry: Entry) => boolean,
): Map<string, Attempt<Entry>> =>
  new Map([...(before ?? [])].filter(([, built]) => 'result' in built && isSame(built.result)));

/** Builds an entry on first use. */
const once =
  <Spec, Entry>(
    built: Map<string, Attempt<Entry>>,
    specs: ReadonlyMap<string, Spec>,
    build: (spec: Spec) => Entry,
  ) =>
  (id: string): Attempt<Entry> | undefined => {
    const known = built.get(id);
    const spec = specs.get(id);
    if (known || !spec) return known;
    const made = attempt(() => build(spec));
    built.set(id, made);
    return made;
  };

/** Some messages name their subject already. */
const problemOf = (subject: string, built: Attempt<unknown> | undefined): string[] => {
  if (!built || !('failure' in built) || built.failure instanceof Unmet) return [];
  const { message } = built.failure;
  return [message.startsWith(subject) ? message : `${subject}: ${message}`];
};

const taken = <Result>(built: Attempt<Result> | undefined, missing: string): Result => {
  if (!built) throw new Unmet(missing);
  if ('result' in built) return built.result;
  const { failure } = built;
  throw failure instanceof Unmet ? failure : new Unmet(failure.message, { cause: failure });
};
