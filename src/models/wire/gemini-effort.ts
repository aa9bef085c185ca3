import type { JsonObject } from '../../schema/json.ts';
import type { ReasoningEffort } from '../../schema/model-settings.ts';
import { budgetOf, nameOf } from '../effort.ts';

/** `gemini-2.5-pro` does not answer without thinking; less is refused. */
const LEAST_BUDGET_OF_PRO = 128;

const LEVEL: Record<ReturnType<typeof nameOf>, string> = {
  none: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'high',
};

/** The levels of Gemini 3 Pro; later Pro models have `medium` too, and only the others have `minimal`. */
const levelOf = (effort: ReasoningEffort, upstream: string): string => {
  const level = LEVEL[nameOf(effort)];
  if (level === 'minimal' && alwaysThinksGemini(upstream)) return 'low';
  return level === 'medium' && /gemini-3-pro/.test(upstream) ? 'high' : level;
};

/** Models before 2.5 refuse `thinkingConfig`. */
export const thinksGemini = (upstream: string): boolean => !/gemini-(1|2\.0)/.test(upstream);

export const alwaysThinksGemini = (upstream: string): boolean =>
  /gemini-(2\.5|[3-9](\.\d+)?)-pro/.test(upstream);

/** `generationConfig.thinkingConfig`: models before Gemini 3 accept a budget, all others a level. */
export const geminiThinking = (effort: ReasoningEffort, upstream: string): JsonObject => {
  const includeThoughts = nameOf(effort) !== 'none';
  if (!/gemini-2/.test(upstream)) return { includeThoughts, thinkingLevel: levelOf(effort, upstream) };
  const least = alwaysThinksGemini(upstream) ? LEAST_BUDGET_OF_PRO : 0;
  return { includeThoughts, thinkingBudget: Math.min(Math.max(budgetOf(effort), least), budgetOf('high')) };
};
