import type { ReasoningEffort } from '../../schema/model-settings.ts';
import { COMPATIBLE_CHAT } from '../chat-options.ts';
import { nearestNamedEffort } from '../effort.ts';
import type { SentSettings } from '../model.ts';
import { openaiChatWire } from './openai-chat.ts';
import { objectOf } from './read.ts';
import type { Wire } from './wire.ts';

/**
 * Chat Completions with OpenRouter's extensions: a reasoning effort or budget for the models of all companies, rules
 * for the choice of the company, and the cost of a completion in its usage.
 */
export const openRouterWire = (given: unknown): Wire => {
  const routing = objectOf(given);
  const wire = openaiChatWire({ ...COMPATIBLE_CHAT, reportsCost: true });
  return {
    ...wire,
    encode(call) {
      const encoded = wire.encode(call);
      const { reasoning_effort: named, ...body } = encoded.body;
      const effort = named === undefined ? undefined : call.request.overrides.reasoning_effort;
      const reasoning = effort == null ? undefined : reasoningOf(effort);
      const { sent } = encoded;
      return {
        ...encoded,
        ...(sent && reasoning && { sent: withReasoning(sent, reasoning) }),
        body: {
          ...body,
          ...(reasoning && { reasoning }),
          // OpenRouter ignores this field today, but gateways with its earlier protocol require it.
          usage: { include: true },
          ...(routing && { provider: routing }),
        },
      };
    },
  };
};

type Reasoning = { max_tokens: number } | { effort: string };

const reasoningOf = (effort: ReasoningEffort): Reasoning => {
  if (typeof effort !== 'string' && effort.budget > 0) return { max_tokens: effort.budget };
  const name = nearestNamedEffort(effort);
  return { effort: name === 'max' ? 'xhigh' : name };
};

const withReasoning = ({ settings, adjusted }: SentSettings, reasoning: Reasoning): SentSettings => ({
  settings: {
    ...settings,
    reasoning_effort: 'effort' in reasoning ? reasoning.effort : { budget: reasoning.max_tokens },
  },
  adjusted,
});
