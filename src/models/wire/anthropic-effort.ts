import type { JsonObject } from '../../schema/json.ts';
import type { ModelSpec } from '../../schema/model.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import type { InferenceRequest } from '../model.ts';
import { anthropicSchema } from '../output-schema.ts';
import { bindsThinking, limitsOf } from '../settings/anthropic-models.ts';
import { isThinking, type Thinking } from '../settings/anthropic-thinking.ts';

/** Body fields for the thinking, sampling and length of a completion. */

type Overrides = InferenceRequest['overrides'];

/** The beta header that `block_binding` requires. */
const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

/**
 * Context messages, compaction and plugins change the content before an earlier thinking block. A model that verifies
 * this content rejects the whole request, unless the request allows it to drop such blocks.
 */
export const bindingBetas = (upstream: string, hasBlocks: boolean): string[] =>
  hasBlocks && bindsThinking(upstream) ? [BINDING_BETA] : [];

/** `hasBlocks`: whether the messages contain thinking blocks. */
export const thinkingFields = (
  { type, budget, effort }: Thinking,
  upstream: string,
  hasBlocks: boolean,
): JsonObject => {
  const drops = hasBlocks && bindsThinking(upstream);
  // A model that verifies its blocks thinks adaptively by default, so naming this type changes nothing.
  const named = type ?? (drops ? 'adaptive' : undefined);
  if (named === undefined) return {};
  return {
    thinking: {
      type: named,
      ...(budget !== undefined && { budget_tokens: budget }),
      ...(effort !== undefined && { display: 'summarized' }),
      ...(drops && { block_binding: { prefix_mismatch_behavior: 'drop_block' } }),
    },
  };
};

/** One field contains both the effort and the output format. */
export const outputFields = ({ effort }: Thinking, output?: InferenceRequest['output']): JsonObject => {
  const format = output && { type: 'json_schema', schema: anthropicSchema(output.schema) };
  if (effort === undefined && format === undefined) return {};
  return { output_config: { ...(effort !== undefined && { effort }), ...(format && { format }) } };
};

/** `settings`: only the settings that the model accepts. */
export const settingFields = ({ temperature, top_p, stop, service_tier }: ModelSettings): JsonObject => ({
  ...(temperature !== undefined && { temperature }),
  ...(top_p !== undefined && { top_p }),
  ...(stop && { stop_sequences: stop }),
  ...(service_tier && { service_tier }),
});

/** The service rejects a forced call together with thinking, and some models that think by default never accept one. */
export const canForceTools = (thinking: Thinking, upstream: string): boolean =>
  !isThinking(thinking) && !limitsOf(upstream).refusesForcedTools;

/**
 * `max_tokens` is required and includes thinking; the budget is added, so that the completion gets the requested
 * tokens.
 */
export const tokenFields = (
  { max_tokens }: Overrides,
  spec: Pick<ModelSpec, 'max_output_tokens'>,
  upstream: string,
  thinking: Thinking,
): { max_tokens: number; thinking: Thinking } => {
  const limits = limitsOf(upstream);
  const { budget = 0 } = thinking;
  const wanted = (max_tokens ?? spec.max_output_tokens ?? limits.maxTokens) + budget;
  const most = limits.isKnown ? Math.min(wanted, limits.maxTokens) : wanted;
  // The service rejects a budget that leaves no tokens for the completion.
  if (budget === 0 || budget < most) return { max_tokens: most, thinking };
  return { max_tokens: most, thinking: { ...thinking, budget: Math.floor((most * 3) / 4) } };
};
