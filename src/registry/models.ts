import { type Capabilities, capabilitiesOf, sharedCapabilities } from '../models/capabilities.ts';
import type { Model, Provider } from '../models/model.ts';
import { createProvider } from '../models/provider.ts';
import type { Route, Routes } from '../models/route.ts';
import type { ModelSpec, PoolSpec } from '../schema/model.ts';
import type { Records } from './records.ts';
import { type Attempt, attempt, Unmet } from './unmet.ts';

/** What a `model_id` leads to (agent-loop.md 1.8): providers, models and pools of one snapshot, built once. */

export type Target = {
  route: Route;
  /** Of a pool, what holds for each member. */
  facts: Capabilities;
};

export type Models = {
  /** @throws Unmet `model not found: <id>` and the like */
  target(modelId: string): Target;
  /** Entries that cannot be built for reasons of their own. */
  problems: readonly string[];
};

export type ModelsInput = {
  records: Pick<Records, 'providers' | 'models' | 'model_pools'>;
  /** Providers of the embedding program; they go over records of the same id. */
  providers: readonly Provider[];
  routes: Routes;
  env: Readonly<Record<string, string | undefined>>;
};

type Built = { spec: ModelSpec; model: Model };

export const createModels = ({ records, providers: given, routes, env }: ModelsInput): Models => {
  const problems: string[] = [];
  const build = <Entry>(subject: string, make: () => Entry): Attempt<Entry> => {
    const built = attempt(make);
    if ('failure' in built && !(built.failure instanceof Unmet)) {
      problems.push(`${subject}: ${built.failure.message}`);
    }
    return built;
  };
  const own = new Map(given.map((provider) => [provider.id, provider]));
  const providers = new Map(
    records.providers
      .filter(({ id }) => !own.has(id))
      .map((spec) => [spec.id, build(`provider '${spec.id}'`, () => createProvider(spec, env))]),
  );
  for (const [id, provider] of own) providers.set(id, { result: provider });
  const models = new Map(
    records.models.map((spec) => [
      spec.id,
      build(`model '${spec.id}'`, () => buildModel(spec, providers.get(spec.provider_id))),
    ]),
  );
  const targets = new Map(
    [...models].map(([id, built]) => [id, mapped(built, (each) => targetOf(routes, each))]),
  );
  const pools = new Map(
    records.model_pools.map((spec) => [spec.id, attempt(() => poolOf(routes, spec, models))]),
  );
  return {
    problems,
    target: (id) => {
      if (targets.has(id) && pools.has(id)) {
        throw new Unmet(`model id resolves to both a model and a model pool: ${id}`);
      }
      return taken(targets.get(id) ?? pools.get(id), `model not found: ${id}`);
    },
  };
};

const buildModel = (spec: ModelSpec, provider: Attempt<Provider> | undefined): Built => ({
  spec,
  model: taken(provider, `provider not found: ${spec.provider_id}`).model(spec),
});

const targetOf = (routes: Routes, { spec, model }: Built): Target => ({
  route: routes.model(model),
  facts: capabilitiesOf(spec),
});

const poolOf = (routes: Routes, spec: PoolSpec, models: ReadonlyMap<string, Attempt<Built>>): Target => {
  const members = spec.members.map(({ model_id }) =>
    taken(models.get(model_id), `model pool '${spec.id}' references missing model '${model_id}'`),
  );
  return {
    route: routes.pool(spec, new Map(members.map(({ spec: { id }, model }) => [id, model]))),
    facts: sharedCapabilities(members.map((member) => capabilitiesOf(member.spec))),
  };
};

const taken = <Result>(built: Attempt<Result> | undefined, missing: string): Result => {
  if (!built) throw new Unmet(missing);
  if ('result' in built) return built.result;
  const { failure } = built;
  throw failure instanceof Unmet ? failure : new Unmet(failure.message, { cause: failure });
};

const mapped = <From, To>(built: Attempt<From>, map: (result: From) => To): Attempt<To> =>
  'result' in built ? { result: map(built.result) } : built;
