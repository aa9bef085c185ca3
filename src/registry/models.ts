import { isDeepStrictEqual } from 'node:util';
import { acceptedByAny, acceptedInput, withKnownInput } from '../models/accepted-input.ts';
import { type Capabilities, capabilitiesOf, sharedCapabilities } from '../models/capabilities.ts';
import { type KnownModel, knownModel } from '../models/catalog.ts';
import { priceFieldsOf, pricesOf } from '../models/cost.ts';
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
 * What a `model_id` leads to (agent-loop.md 1.8): providers, models and pools of one snapshot.
 *
 * Guarantees: what is equal in `previous` is taken over from it, so that a publication keeps the connections of
 * providers, and the sessions and turns of pools. Costs a look at each entry; models and pools are built when
 * somebody asks for them first.
 */

export type Target = {
  route: Route;
  /** Of a pool, what holds for each member. */
  facts: Capabilities;
  /** Of a pool, what any member accepts. */
  accepts: AcceptedInput;
};

export type Models = {
  /** @throws Unmet `model not found: <id>` and the like */
  target(modelId: string): Target;
  /** Those that are meant and cannot be built for reasons of their own. Builds them. */
  problems(isMeant: IsMeant): readonly string[];
  /** Models of providers of the configuration of which a limit or a price is unknown. */
  gaps(): readonly ModelGap[];
  /** The limits, abilities and prices of a model that apply to fields which its entry leaves out. */
  known(spec: ModelSpec): KnownFields;
  /** For the models of the next snapshot. */
  readonly built: Built;
};

export type ModelGap = { id: string; upstream: string; lacksWindow: boolean; lacksPrices: boolean };

/** Which entries a question is about. */
export type IsMeant = (namespace: 'providers' | 'models' | 'agents', id: string) => boolean;

export type ModelsInput = {
  records: Pick<Records, 'providers' | 'models' | 'model_pools'>;
  /** Providers of the embedding program; they go over records of the same id. */
  providers: readonly Provider[];
  routes: Routes;
  env: Readonly<Record<string, string | undefined>>;
  transport: Transport;
  /** What the provider's own list says of a model. */
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
  const { records, routes, discovered = () => ({}) } = input;
  const providers = buildProviders(input);
  const specs = new Map(records.models.map((spec) => [spec.id, spec]));
  const poolSpecs = new Map(records.model_pools.map((spec) => [spec.id, spec]));
  const models = kept(input.previous?.models, ({ spec, provider }) => {
    const now = specs.get(spec.id);
    return provider === providers.get(spec.provider_id)?.provider && isDeepStrictEqual(now, spec);
  });

  const modelOf = once(models, specs, (spec): BuiltModel => {
    const provider = providers.get(spec.provider_id)?.provider;
    const bare = taken(provider, `provider not found: ${spec.provider_id}`).model(spec);
    const known = withKnownInput(bare, () => factsOf(spec));
    const model = withCost(withEntrySettings(known, spec), (upstream) => pricesFor(spec, upstream));
    return { spec, provider, model, route: routes.model(model) };
  });

  const membersOf = (pool: PoolSpec): BuiltModel[] =>
    pool.members.map(({ model_id }) =>
      taken(modelOf(model_id), `model pool '${pool.id}' references missing model '${model_id}'`),
    );
  const pools = kept(input.previous?.pools, ({ spec, members }) => {
    const now = poolSpecs.get(spec.id);
    return (
      isDeepStrictEqual(now, spec) &&
      members.every((member) => {
        const model = models.get(member.spec.id);
        return model !== undefined && 'result' in model && model.result === member;
      })
    );
  });
  const poolOf = once(pools, poolSpecs, (spec): BuiltPool => {
    const members = membersOf(spec);
    const byId = new Map(members.map(({ spec: { id }, model }) => [id, model]));
    return { spec, members, route: routes.pool(spec, byId) };
  });

  const catalogued = ({ provider_id }: ModelSpec, upstream: string): KnownModel | undefined => {
    const provider = providers.get(provider_id)?.spec;
    return knownModel(provider && adapterName(provider.adapter), upstream);
  };

  /** Prices of the entry are those of its own upstream name, not of one that a run asks for instead. */
  const pricesFor = (spec: ModelSpec, upstream = spec.upstream_model) =>
    pricesOf(upstream === spec.upstream_model ? spec : {}, catalogued(spec, upstream)?.prices);

  /** @param stated goes over the list of the provider and the catalog */
  const factsOf = (spec: ModelSpec, stated: Capabilities = spec): Capabilities => {
    const provider = providers.get(spec.provider_id)?.spec;
    return capabilitiesOf(
      stated,
      provider && discovered(provider, spec),
      catalogued(spec, spec.upstream_model),
    );
  };

  const gapsOf = (spec: ModelSpec): ModelGap[] => {
    const { id, upstream_model: upstream } = spec;
    const adapter = providers.get(spec.provider_id)?.spec?.adapter;
    if (adapter === undefined || adapterName(adapter) === 'scripted') return [];
    const lacksWindow = factsOf(spec).context_window === undefined;
    const lacksPrices = pricesFor(spec, upstream) === undefined;
    return lacksWindow || lacksPrices ? [{ id, upstream, lacksWindow, lacksPrices }] : [];
  };

  return {
    built: { providers, models, pools },
    gaps: () => records.models.flatMap(gapsOf),
    known(spec) {
      const prices = catalogued(spec, spec.upstream_model)?.prices;
      return { ...factsOf(spec, {}), ...(prices && priceFieldsOf(prices)) };
    },
    problems: (isMeant) => [
      ...[...providers]
        .filter(([id]) => isMeant('providers', id))
        .flatMap(([id, { provider }]) => problemOf(`provider '${id}'`, provider)),
      ...[...specs.keys()]
        .filter((id) => isMeant('models', id))
        .flatMap((id) => problemOf(`model '${id}'`, modelOf(id))),
    ],
    target(id) {
      const isModel = specs.has(id);
      if (isModel && poolSpecs.has(id)) {
        throw new Unmet(`model id resolves to both a model and a model pool: ${id}`);
      }
      if (isModel || !poolSpecs.has(id)) {
        const model = taken(modelOf(id), `model not found: ${id}`);
        const facts = factsOf(model.spec);
        return { route: model.route, facts, accepts: acceptedInput(facts) };
      }
      const { route, members } = taken(poolOf(id), `model not found: ${id}`);
      const each = members.map(({ spec }) => factsOf(spec));
      return { route, facts: sharedCapabilities(each), accepts: acceptedByAny(each) };
    },
  };
};

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

/** What was built before and would be built the same again. */
const kept = <Entry>(
  before: ReadonlyMap<string, Attempt<Entry>> | undefined,
  isSame: (entry: Entry) => boolean,
): Map<string, Attempt<Entry>> =>
  new Map([...(before ?? [])].filter(([, built]) => 'result' in built && isSame(built.result)));

/** Builds an entry when it is asked for first. */
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

const problemOf = (subject: string, built: Attempt<unknown> | undefined): string[] =>
  built && 'failure' in built && !(built.failure instanceof Unmet)
    ? [`${subject}: ${built.failure.message}`]
    : [];

const taken = <Result>(built: Attempt<Result> | undefined, missing: string): Result => {
  if (!built) throw new Unmet(missing);
  if ('result' in built) return built.result;
  const { failure } = built;
  throw failure instanceof Unmet ? failure : new Unmet(failure.message, { cause: failure });
};
