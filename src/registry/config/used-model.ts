import { hostOf } from '../../models/provider.ts';
import { attempt } from '../unmet.ts';
import type { Live } from './live.ts';

/** Where the inferences of an agent are sent, for the operator to see before the first one. */
export type UsedModel = {
  /** Upstream name, or the id of a pool. */
  model: string;
  provider?: string;
  host?: string;
};

/** Undefined for an agent that asks no model here. */
export const usedModel = (live: Pick<Live, 'models' | 'spec'>, agentId: string): UsedModel | undefined => {
  const id = live.spec(agentId)?.model_id;
  if (!id) return undefined;
  const { models, providers } = live.models();
  const model = models.find((each) => each.id === id);
  if (!model) return { model: id };
  const provider = providers.find((each) => each.id === model.provider_id);
  // Options that make no address are reported where the provider is used.
  const found = attempt(() => (provider && 'adapter' in provider ? hostOf(provider) : undefined));
  const host = 'result' in found ? found.result : undefined;
  return { model: model.upstream_model, provider: model.provider_id, ...(host !== undefined && { host }) };
};
