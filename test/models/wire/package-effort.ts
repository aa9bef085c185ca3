import { budgetOf, nameOf } from '../../../src/models/effort.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { ReasoningEffort } from '../../../src/schema/run.ts';

/** Reasoning effort as options of the provider packages, which the encoders are compared with. */

const openaiName = (effort: ReasoningEffort): string => (nameOf(effort) === 'max' ? 'xhigh' : nameOf(effort));

export const openaiResponsesEffort = (effort: ReasoningEffort) => ({
  openai: {
    reasoningEffort: openaiName(effort),
    ...(nameOf(effort) !== 'none' && { reasoningSummary: 'auto' }),
  },
});

const ADAPTIVE_CLAUDE = /claude-(opus|sonnet|haiku|fable)-(4-[6-9]|[5-9])/;

export const anthropicEffort = (effort: ReasoningEffort, upstream: string) => {
  const name = nameOf(effort);
  if (name === 'none') return { anthropic: { thinking: { type: 'disabled' } } };
  if (ADAPTIVE_CLAUDE.test(upstream)) {
    return { anthropic: { thinking: { type: 'adaptive', display: 'summarized' }, effort: name } };
  }
  return { anthropic: { thinking: { type: 'enabled', budgetTokens: Math.max(1024, budgetOf(effort)) } } };
};

const LEVELS = { none: 'minimal', low: 'low', medium: 'medium', high: 'high', max: 'high' };

export const geminiEffort = (effort: ReasoningEffort, upstream: string): { google: JsonObject } => {
  const includeThoughts = nameOf(effort) !== 'none';
  const thinkingConfig: JsonObject = /gemini-[12]/.test(upstream)
    ? { includeThoughts, thinkingBudget: Math.min(budgetOf(effort), 24_576) }
    : { includeThoughts, thinkingLevel: LEVELS[nameOf(effort)] };
  return { google: { thinkingConfig } };
};
