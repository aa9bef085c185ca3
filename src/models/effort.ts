import type { ReasoningEffort } from '../schema/model-settings.ts';

/**
 * Reasoning effort, which a provider takes as a budget of tokens or as a name (agent-loop.md 1.6): a named effort has a
 * budget, and a budget has the name of the highest effort that it pays for.
 */

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

/** Models of OpenAI that think, whoever passes on to them; they know more efforts, and take no other sampling. */
export const isOpenAiThinker = (upstream: string): boolean =>
  /^(openai\/)?(o\d|gpt-([5-9]|1\d)(?!\d|-chat))/.test(upstream);
