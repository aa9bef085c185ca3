import type { JsonObject } from '../../schema/json.ts';
import type { ModelSpec } from '../../schema/model.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import { budgetOf, nameOf } from '../effort.ts';
import type { InferenceRequest } from '../model.ts';
import { bindsThinking, isAdaptive, limitsOf, thinksAtAll, thinksUnasked } from './anthropic-models.ts';
import { anthropicSchema } from './output-schema.ts';

/** Fields of a body that say how much the model thinks, samples and writes. */

type Overrides = InferenceRequest['overrides'];

export type Thinking = {
  /** Absent: the request does not mention thinking. */
  type?: 'enabled' | 'adaptive' | 'disabled' | 'between_tools';
  /** Tokens, with `enabled`. */
  budget?: number;
  /** With `adaptive`. */
  effort?: string;
  /** Thinking blocks of earlier answers are sent. The service refuses some of them when the model does not think. */
  sendsBlocks: boolean;
};

/** Less is refused. */
const LEAST_BUDGET = 1024;

export const thinkingFor = (effort: Overrides['reasoning_effort'], upstream: string): Thinking => {
  if (effort == null) return { sendsBlocks: thinksUnasked(upstream) };
  const name = nameOf(effort);
  if (name !== 'none') {
    return isAdaptive(upstream)
      ? { type: 'adaptive', effort: name, sendsBlocks: true }
      : { type: 'enabled', budget: Math.max(LEAST_BUDGET, budgetOf(effort)), sendsBlocks: true };
  }
  if (!thinksAtAll(upstream)) return WITHOUT_THINKING;
  const { alwaysThinks, betweenTools } = limitsOf(upstream);
  if (!alwaysThinks) return { type: 'disabled', sendsBlocks: false };
  // With `between_tools` the service accepts no `block_binding`, so a block behind a changed prefix would be refused.
  return betweenTools ? { type: 'between_tools', sendsBlocks: false } : { sendsBlocks: true };
};

/** In place of thinking that the history does not allow. */
export const WITHOUT_THINKING: Thinking = { sendsBlocks: false };

/** Headers that belong to `block_binding`. */
const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

/**
 * Context messages, compaction and plugins change what stands before an earlier thinking block. A model that checks
 * this refuses the whole request, unless it is asked to drop such blocks.
 */
export const bindingBetas = (upstream: string, hasBlocks: boolean): string[] =>
  hasBlocks && bindsThinking(upstream) ? [BINDING_BETA] : [];

/** `hasBlocks`: the messages contain thinking blocks. */
export const thinkingFields = (
  { type, budget, effort }: Thinking,
  upstream: string,
  hasBlocks: boolean,
): JsonObject => {
  const drops = hasBlocks && bindsThinking(upstream);
  // A model that checks its blocks thinks adaptively by default, so naming this type changes nothing.
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

export const isThinking = ({ type }: Thinking): boolean => type !== undefined && type !== 'disabled';

/** One field for the effort and the form of the answer. */
export const outputFields = ({ effort }: Thinking, output?: InferenceRequest['output']): JsonObject => {
  const format = output && { type: 'json_schema', schema: anthropicSchema(output.schema) };
  if (effort === undefined && format === undefined) return {};
  return { output_config: { ...(effort !== undefined && { effort }), ...(format && { format }) } };
};

/** `settings`: those that the model accepts. */
export const settingFields = ({ temperature, top_p, stop, service_tier }: ModelSettings): JsonObject => ({
  ...(temperature !== undefined && { temperature }),
  ...(top_p !== undefined && { top_p }),
  ...(stop && { stop_sequences: stop }),
  ...(service_tier && { service_tier }),
});

/** The service refuses a forced call with thinking, and from some models that think unasked. */
export const canForceTools = (thinking: Thinking, upstream: string): boolean =>
  !isThinking(thinking) && !limitsOf(upstream).refusesForcedTools;

/** `max_tokens` is required, and counts thinking too: the answer gets what the request allows it, behind the budget. */
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
  // A budget that leaves nothing for the answer is refused.
  if (budget === 0 || budget < most) return { max_tokens: most, thinking };
  return { max_tokens: most, thinking: { ...thinking, budget: Math.floor((most * 3) / 4) } };
};
