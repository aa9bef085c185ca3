import type { ContextPolicy } from '../../schema/context-policy.ts';

/** What is known of the model; of a pool, the smallest of its members. */
export type ModelLimits = { context_window?: number; max_output_tokens?: number };

/** What a policy means with a model: no more than the model can take. */
export const effectivePolicy = (policy: ContextPolicy, limits: ModelLimits): ContextPolicy => {
  const context = Math.min(policy.max_context_tokens, limits.context_window ?? Number.POSITIVE_INFINITY);
  const output = Math.min(policy.max_output_tokens, limits.max_output_tokens ?? Number.POSITIVE_INFINITY);
  const { autocompact_threshold: asked, ...rest } = policy;
  const room = Math.max(0, context - output);
  return {
    ...rest,
    max_context_tokens: context,
    max_output_tokens: output,
    ...(asked !== undefined && room > 0 && { autocompact_threshold: Math.min(asked, room) }),
  };
};
