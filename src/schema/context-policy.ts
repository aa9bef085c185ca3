import { z } from 'zod';
import { nullsAbsent } from './endpoint.ts';

/** The `context_policy` of an agent (agent-loop.md 1.5). Unknown keys are ignored (config.md 3.1). */

const tokens = z.int().nonnegative();

const Fields = z.object({
  max_context_tokens: tokens,
  max_output_tokens: tokens,
  min_recent_messages: z.int().nonnegative(),
  enable_prompt_cache: z.boolean(),
  autocompact_threshold: tokens.optional(),
  compaction_mode: z
    .enum(['keep_recent_raw_suffix', 'compact_to_safe_frontier'])
    .default('keep_recent_raw_suffix'),
  compaction_raw_suffix_messages: z.int().nonnegative().default(2),
});
export const ContextPolicy = nullsAbsent(Fields).meta({
  id: 'ContextPolicy',
  description: 'The part of a long conversation that the model receives.',
});
export type ContextPolicy = z.infer<typeof ContextPolicy>;
