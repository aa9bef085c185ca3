import type { ContextPolicy } from '../../schema/context-policy.ts';

/** Known limits of a model; for a pool, the smallest of its members. */
export type ModelLimits = { context_window?: number; max_output_tokens?: number };

/** Caps a policy at the limits of the model. */
export const effectivePolicy = (policy: ContextPolicy, limits: ModelLimits): ContextPolicy => {
  const context = Math.min(policy.max_context_tokens, limits.context_window ?? Number.POSITIVE_INFINITY);
  const output = Math.min(policy.max_output_tokens, limits.max_output_tokens ?? Number.POSITIVE_INFINITY);
  const { autocompact_threshold: threshold, ...rest } = policy;
  const room = Math.max(0, context - output);
  return {
    ...rest,
    max_context_tokens: context,
    max_output_tokens: output,
    ...(threshold !== undefined && room > 0 && { autocompact_threshold: Math.min(threshold, room) }),
  };
};
