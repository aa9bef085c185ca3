import type { Usage } from '../../schema/run-event.ts';
import type { ResponseUsage } from '../../schema/stored-response.ts';

/** Tokens of the inferences of a leg. */

export const NO_USAGE: ResponseUsage = { input: 0, output: 0, cached: 0, written: 0, reasoning: 0 };

export const addUsage = (sum: ResponseUsage, usage: Usage | undefined): ResponseUsage =>
  usage
    ? {
        input: sum.input + (usage.prompt_tokens ?? 0),
        output: sum.output + (usage.completion_tokens ?? 0),
        cached: sum.cached + (usage.cache_read_tokens ?? 0),
        written: sum.written + (usage.cache_creation_tokens ?? 0),
        reasoning: sum.reasoning + (usage.thinking_tokens ?? 0),
      }
    : sum;
