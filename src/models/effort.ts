import type { ReasoningEffort } from '../schema/model-settings.ts';

/**
 * Reasoning effort, which a provider accepts as a token budget or as a name (agent-loop.md 1.6): a named effort has a
 * budget, and a budget maps to the highest effort that it covers.
 */

type Named = Extract<ReasoningEffort, string>;

const BUDGET: Record<Named, number> = { none: 0, low: 1024, medium: 8192, high: 24_576, max: 32_000 };

export const budgetOf = (effort: ReasoningEffort): number =>
  typeof effort === 'string' ? BUDGET[effort] : effort.budget;

/** The highest effort that the budget covers; a budget below the lowest effort still requests `low`. */
export const nearestNamedEffort = (effort: ReasoningEffort): Named => {
  if (typeof effort === 'string') return effort;
  if (effort.budget === 0) return 'none';
  const affordable = (['max', 'high', 'medium'] as const).find((name) => BUDGET[name] <= effort.budget);
  return affordable ?? 'low';
};

/**
 * Reasoning models of OpenAI, including those behind a gateway. They support more efforts, and reject sampling options.
 */
export const isOpenAiThinker = (upstream: string): boolean =>
  /^(openai\/)?(o\d|gpt-([5-9]|1\d)(?!\d|-chat))/.test(upstream);
