import type { JsonObject } from '../../schema/json.ts';
import type { ChatOptions } from '../chat-options.ts';
import { type Counts, countOf, objectOf } from './read.ts';

/** Token counts of a `usage` object, in which services add and omit fields compared to OpenAI. */
export function usageIn(usage: JsonObject, { reportsCost }: Pick<ChatOptions, 'reportsCost'>): Counts {
  const ofPrompt = objectOf(usage.prompt_tokens_details);
  const prompt = countOf(usage.prompt_tokens);
  const thinking = countOf(objectOf(usage.completion_tokens_details)?.reasoning_tokens);
  return {
    prompt,
    completion: withReasoning(
      prompt,
      countOf(usage.completion_tokens),
      thinking,
      countOf(usage.total_tokens),
    ),
    // DeepSeek uses another field name.
    cacheRead: countOf(ofPrompt?.cached_tokens) ?? countOf(usage.prompt_cache_hit_tokens),
    cacheWrite: countOf(ofPrompt?.cache_write_tokens),
    thinking,
    cost: reportsCost ? amountOf(usage.cost) : undefined,
  };
}

const amountOf = (cost: unknown): number | undefined =>
  typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : undefined;

/** xAI counts reasoning only in the total. */
function withReasoning(
  prompt: number | undefined,
  completion: number | undefined,
  thinking = 0,
  total: number | undefined,
): number | undefined {
  if (prompt === undefined || completion === undefined || thinking === 0) return completion;
  return prompt + completion + thinking === total ? completion + thinking : completion;
}
