import type { SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ReasoningEffort } from '../schema/run.ts';

/**
 * Reasoning effort in the terms of each provider (agent-loop.md 1.6). Whoever thinks in budgets gets the budget
 * of a named effort, whoever thinks in efforts the effort nearest to a budget; where the provider can return
 * reasoning text, it is asked for it.
 */

export type EffortOptions = (effort: ReasoningEffort, upstream: string) => SharedV3ProviderOptions;

type Named = Extract<ReasoningEffort, string>;

const BUDGET: Record<Named, number> = { none: 0, low: 1024, medium: 8192, high: 24_576, max: 32_000 };

export const budgetOf = (effort: ReasoningEffort): number =>
  typeof effort === 'string' ? BUDGET[effort] : effort.budget;

/** The highest effort that the budget pays for; a budget too small for the lowest still asks for some. */
export const nameOf = (effort: ReasoningEffort): Named => {
  if (typeof effort === 'string') return effort;
  if (effort.budget === 0) return 'none';
  const affordable = (['max', 'high', 'medium'] as const).find((name) => BUDGET[name] <= effort.budget);
  return affordable ?? 'low';
};

const openaiEffort = (effort: ReasoningEffort): string => {
  const name = nameOf(effort);
  return name === 'max' ? 'xhigh' : name;
};

export const openaiChatEffort: EffortOptions = (effort) => ({
  openai: { reasoningEffort: openaiEffort(effort) },
});

export const openaiResponsesEffort: EffortOptions = (effort) => ({
  openai: {
    reasoningEffort: openaiEffort(effort),
    ...(nameOf(effort) !== 'none' && { reasoningSummary: 'auto' }),
  },
});

/** Compatible services know low, medium and high. */
export const compatibleEffort: EffortOptions = (effort) => {
  const name = nameOf(effort);
  return { openaiCompatible: { reasoningEffort: name === 'max' ? 'high' : name } };
};

/** Models of OpenAI that think, whoever passes on to them; they know more efforts, and take no other sampling. */
export const isOpenAiThinker = (upstream: string): boolean =>
  /^(openai\/)?(o\d|gpt-([5-9]|1\d)(?!\d|-chat))/.test(upstream);

/** Of services that speak as OpenAI does, and may be a way to it. */
export const foreignEffort: EffortOptions = (effort, upstream) =>
  isOpenAiThinker(upstream)
    ? { openaiCompatible: { reasoningEffort: openaiEffort(effort) } }
    : compatibleEffort(effort, upstream);

/** These decide their budget themselves and take an effort instead. */
const ADAPTIVE_CLAUDE = /claude-(opus|sonnet|haiku|fable)-(4-[6-9]|[5-9])/;

export const anthropicEffort: EffortOptions = (effort, upstream) => {
  const name = nameOf(effort);
  if (name === 'none') return { anthropic: { thinking: { type: 'disabled' } } };
  if (ADAPTIVE_CLAUDE.test(upstream)) {
    return { anthropic: { thinking: { type: 'adaptive', display: 'summarized' }, effort: name } };
  }
  return { anthropic: { thinking: { type: 'enabled', budgetTokens: Math.max(1024, budgetOf(effort)) } } };
};

const GEMINI_LEVEL: Record<Named, string> = {
  none: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'high',
};

export const geminiEffort: EffortOptions = (effort, upstream) => {
  const includeThoughts = nameOf(effort) !== 'none';
  const thinkingConfig = /gemini-[12]/.test(upstream)
    ? { includeThoughts, thinkingBudget: Math.min(budgetOf(effort), BUDGET.high) }
    : { includeThoughts, thinkingLevel: GEMINI_LEVEL[nameOf(effort)] };
  return { google: { thinkingConfig } };
};
