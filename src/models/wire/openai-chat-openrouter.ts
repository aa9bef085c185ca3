import type { JsonObject } from '../../schema/json.ts';
import type { ReasoningEffort } from '../../schema/model-settings.ts';
import { nameOf } from '../effort.ts';
import { openaiChatWire } from './openai-chat.ts';
import { COMPATIBLE_CHAT } from './openai-chat-options.ts';
import type { Wire } from './wire.ts';

/**
 * Chat Completions as OpenRouter extends it: an effort or a budget of reasoning for the models of all companies, rules
 * about which company answers (`routing`), and the cost of an answer in its usage.
 */
export const openRouterWire = (routing: JsonObject | undefined): Wire => {
  const wire = openaiChatWire({ ...COMPATIBLE_CHAT, reportsCost: true });
  return {
    ...wire,
    encode(call) {
      const encoded = wire.encode(call);
      const { reasoning_effort: named, ...body } = encoded.body;
      const effort = named === undefined ? undefined : call.request.overrides.reasoning_effort;
      return {
        ...encoded,
        body: {
          ...body,
          ...reasoningField(effort),
          // Without effect at OpenRouter today, and needed by gateways that speak its earlier protocol.
          usage: { include: true },
          ...(routing && { provider: routing }),
        },
      };
    },
  };
};

const reasoningField = (effort: ReasoningEffort | null | undefined): JsonObject => {
  if (effort == null) return {};
  if (typeof effort !== 'string' && effort.budget > 0) return { reasoning: { max_tokens: effort.budget } };
  const name = nameOf(effort);
  return { reasoning: { effort: name === 'max' ? 'xhigh' : name } };
};
