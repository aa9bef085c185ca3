import { adapterName } from '../models/provider.ts';
import type { LiveModels } from '../registry/config/live.ts';
import { attempt } from '../registry/unmet.ts';

/** Which model the assistant thinks with (config.md 11.2). */

/** Ids of models and pools that lead to a real provider, ascending. */
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

/** The configured one or none: what an operator chose is not replaced by something else. */
export const chooseModel = (live: LiveModels, configured: string | undefined): string | undefined => {
  if (configured === undefined) return realModels(live).find((id) => canBeBuilt(live, id));
  return isUsable(live, configured) ? configured : undefined;
};

const isReal = (provider: LiveModels['providers'][number]): boolean =>
  !('adapter' in provider) || adapterName(provider.adapter) !== 'scripted';

/** A provider that cannot be set up, or a pool with a member that is gone, is no use. */
const canBeBuilt = ({ target }: LiveModels, id: string): boolean => 'result' in attempt(() => target(id));
