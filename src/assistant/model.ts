import type { LiveModels } from '../configuration/control-plane/live.ts';
import { attempt } from '../configuration/unmet.ts';
import { adapterName } from '../models/provider.ts';

/** Selects the model of the assistant (config.md 11.2). */

/** Ids of models and pools with a real provider, ascending. */
const realModels = ({ providers, models, model_pools }: LiveModels): string[] => {
  const real = new Set(providers.filter(isReal).map(({ id }) => id));
  const usable = new Set(models.filter(({ provider_id }) => real.has(provider_id)).map(({ id }) => id));
  const pools = model_pools
    .filter(({ members }) => members.some(({ model_id }) => usable.has(model_id)))
    .map(({ id }) => id);
  return [...new Set([...usable, ...pools])].sort();
};

export const isUsable = (live: LiveModels, id: string): boolean =>
  realModels(live).includes(id) && canBeBuilt(live, id);

/**
 * Returns the configured model or none: the choice of an operator is never replaced by another model. Without a
 * configured model, those of providers that rejected their key come last.
 */
export const chooseModel = (
  live: LiveModels,
  configured: string | undefined,
  hasRejectedKey: (provider: string) => boolean,
): string | undefined => {
  if (configured !== undefined) return isUsable(live, configured) ? configured : undefined;
  const usable = realModels(live).filter((id) => canBeBuilt(live, id));
  return usable.find((id) => providersOf(live, id).some((one) => !hasRejectedKey(one))) ?? usable[0];
};

const providersOf = ({ models, model_pools }: LiveModels, id: string): string[] => {
  const members = model_pools.find((pool) => pool.id === id)?.members.map(({ model_id }) => model_id) ?? [id];
  return models.filter((model) => members.includes(model.id)).map(({ provider_id }) => provider_id);
};

const isReal = (provider: LiveModels['providers'][number]): boolean =>
  !('adapter' in provider) || adapterName(provider.adapter) !== 'scripted';

/** False for a model of an unusable provider, and for a pool with a deleted member. */
const canBeBuilt = ({ target }: LiveModels, id: string): boolean => 'result' in attempt(() => target(id));
