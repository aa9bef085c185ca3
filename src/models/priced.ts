import type { Prices } from './catalog.ts';
import { costUsd } from './cost.ts';
import type { InferenceEnd, InferenceUsage, Model } from './model.ts';

/**
 * Wraps a model so that its completions include their cost.
 *
 * Guarantees: the usage of a completion contains only the fields that clients receive. Cost: one promise per inference.
 *
 * @param pricesOf the prices of the model, or those under another name at its provider
 */
export const withCost = (
  model: Model,
  pricesOf: (upstream: string | undefined) => Prices | undefined,
): Model & Required<Pick<Model, 'costUsd'>> => {
  const costOf = (usage: InferenceUsage | undefined, upstream: string | null | undefined) =>
    costUsd(usage, pricesOf(upstream ?? undefined));
  return {
    ...model,
    costUsd: costOf,
    async stream(request, sink, signal) {
      const end = await model.stream(request, sink, signal);
      return costed(end, costOf(end.usage, request.overrides.upstream_model));
    },
  };
};

const costed = ({ usage, ...end }: InferenceEnd, cost_usd: number | undefined): InferenceEnd => ({
  ...(cost_usd !== undefined && { cost_usd }),
  // A provider of the embedding program may have set the cost itself.
  ...end,
  ...(usage && { usage: withoutInternals(usage) }),
});

const withoutInternals = ({
  cache_creation_1h_tokens: _hour,
  reported_cost_usd: _reported,
  ...usage
}: InferenceUsage): InferenceUsage => usage;
