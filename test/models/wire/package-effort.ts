import { budgetOf, nearestNamedEffort } from '../../../src/models/effort.ts';
import { wireEffort } from '../../../src/models/settings/efforts.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { ReasoningEffort } from '../../../src/schema/model-settings.ts';

/** Reasoning effort as options of the provider packages, with which the encoders are compared. */

export const openaiResponsesEffort = (effort: ReasoningEffort, upstream: string) => {
  const reasoningEffort = wireEffort(effort, upstream, 'openai_resp');
  return {
    openai: {
      ...(reasoningEffort && { reasoningEffort }),
      ...(reasoningEffort && reasoningEffort !== 'none' && { reasoningSummary: 'auto' }),
    },
  };
};

const ADAPTIVE_CLAUDE = /claude-(opus|sonnet|haiku|fable)-(4-[6-9]|[5-9])/;

export const anthropicEffort = (effort: ReasoningEffort, upstream: string) => {
  const name = nearestNamedEffort(effort);
  if (/claude-(instant|v?2(?=$|[-.:])|3-(haiku|opus|sonnet|5-))/.test(upstream)) return { anthropic: {} };
  if (name === 'none') return { anthropic: { thinking: { type: 'disabled' } } };
  if (ADAPTIVE_CLAUDE.test(upstream)) {
    return { anthropic: { thinking: { type: 'adaptive', display: 'summarized' }, effort: name } };
  }
  return { anthropic: { thinking: { type: 'enabled', budgetTokens: Math.max(1024, budgetOf(effort)) } } };
};

const LEVELS = { none: 'minimal', low: 'low', medium: 'medium', high: 'high', max: 'high' };

export const geminiEffort = (effort: ReasoningEffort, upstream: string): { google: JsonObject } => {
  if (/gemini-(1|2\.0)/.test(upstream)) return { google: {} };
  const includeThoughts = nearestNamedEffort(effort) !== 'none';
  const isPro = /-pro/.test(upstream);
  const level = LEVELS[nearestNamedEffort(effort)];
  const thinkingConfig: JsonObject = /gemini-2/.test(upstream)
    ? { includeThoughts, thinkingBudget: Math.min(Math.max(budgetOf(effort), isPro ? 128 : 0), 24_576) }
    : { includeThoughts, thinkingLevel: isPro && level === 'minimal' ? 'low' : level };
  return { google: { thinkingConfig } };
};
