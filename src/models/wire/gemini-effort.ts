import type { JsonObject } from '../../schema/json.ts';
import type { ReasoningEffort } from '../../schema/model-settings.ts';
import { budgetOf, nearestNamedEffort } from '../effort.ts';
import { alwaysThinksGemini } from '../settings/gemini-models.ts';

/** The service rejects a smaller budget, because `gemini-2.5-pro` always thinks. */
const LEAST_BUDGET_OF_PRO = 128;

const LEVEL: Record<ReturnType<typeof nearestNamedEffort>, string> = {
  none: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'high',
};

/** The levels of Gemini 3 Pro; later Pro models also have `medium`, and only non-Pro models have `minimal`. */
const levelOf = (effort: ReasoningEffort, upstream: string): string => {
  const level = LEVEL[nearestNamedEffort(effort)];
  if (level === 'minimal' && alwaysThinksGemini(upstream)) return 'low';
  return level === 'medium' && /gemini-3-pro/.test(upstream) ? 'high' : level;
};

/** Builds `generationConfig.thinkingConfig`: models before Gemini 3 accept a budget, all others a level. */
export const geminiThinking = (effort: ReasoningEffort, upstream: string): JsonObject => {
  const includeThoughts = nearestNamedEffort(effort) !== 'none';
  if (!/gemini-2/.test(upstream)) return { includeThoughts, thinkingLevel: levelOf(effort, upstream) };
  const least = alwaysThinksGemini(upstream) ? LEAST_BUDGET_OF_PRO : 0;
  return { includeThoughts, thinkingBudget: Math.min(Math.max(budgetOf(effort), least), budgetOf('high')) };
};
