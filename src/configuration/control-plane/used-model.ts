import { resolveHost } from '../../models/provider.ts';
import { attempt } from '../unmet.ts';
import type { Live } from './live.ts';

/** The destination of an agent's inferences, for display to the operator before the first one. */
export type UsedModel = {
  /** Upstream name, or the id of a pool. */
  model: string;
  provider?: string;
  host?: string;
};

/** Returns undefined for an agent without a local model. */
export const usedModel = (live: Pick<Live, 'models' | 'spec'>, agentId: string): UsedModel | undefined => {
  const id = live.spec(agentId)?.model_id;
  if (!id) return undefined;
  const { models, providers } = live.models();
  const model = models.find((each) => each.id === id);
  if (!model) return { model: id };
  const provider = providers.find((each) => each.id === model.provider_id);
  // Options without a valid address are reported where the provider is used.
  const found = attempt(() => (provider && 'adapter' in provider ? resolveHost(provider) : undefined));
  const host = 'result' in found ? found.result : undefined;
  return { model: model.upstream_model, provider: model.provider_id, ...(host !== undefined && { host }) };
};
