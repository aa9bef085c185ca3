import type { JsonObject } from '../../schema/json.ts';
import type { ReasoningEffort } from '../../schema/run.ts';
import { budgetOf, nameOf } from '../effort.ts';

const LEVEL: Record<ReturnType<typeof nameOf>, string> = {
  none: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'high',
};

/** `generationConfig.thinkingConfig`: models before Gemini 3 accept a budget, all others a level. */
export const geminiThinking = (effort: ReasoningEffort, upstream: string): JsonObject => {
  const includeThoughts = nameOf(effort) !== 'none';
  return /gemini-[12]/.test(upstream)
    ? { includeThoughts, thinkingBudget: Math.min(budgetOf(effort), budgetOf('high')) }
    : { includeThoughts, thinkingLevel: LEVEL[nameOf(effort)] };
};
