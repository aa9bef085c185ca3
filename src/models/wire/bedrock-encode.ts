import type { JsonObject } from '../../schema/json.ts';
import type { ModelSettings, ReasoningEffort } from '../../schema/model-settings.ts';
import { nameOf } from '../effort.ts';
import type { InferenceRequest, SentSettings } from '../model.ts';
import { fitSettings, sentSettings } from '../settings/rules.ts';
import { type SentTool, toolsToSend } from '../tool-names.ts';
import { outputFields, thinkingFields } from './anthropic-effort.ts';
import { planMessages } from './anthropic-encode.ts';
import { userTurn, writeMessages } from './anthropic-messages.ts';
import { bindsThinking, isClaude } from './anthropic-models.ts';
import type { Turn } from './anthropic-turn.ts';
import { type BedrockRules, converseContent, converseMessages } from './bedrock-blocks.ts';
import { type ChosenTools, chooseTools } from './tool-choice.ts';
import type { WireCall, WireRequest } from './wire.ts';

/**
 * A request of ConverseStream.
 *
 * Messages alternate and pair calls with results as those of the Messages protocol, so they are written in its form, and
 * then block by block in that of Converse. Claude has the same rules about thinking there; the reasoning of other models
 * is not sent back, because most of them reject it.
 */
export const encodeConverse = (call: WireCall): WireRequest => {
  const { upstream } = call;
  const planned = isClaude(upstream) ? planClaude(call) : planOther(call);
  const { tools, choice, settings, fields, sent } = planned;
  const rules: BedrockRules = {
    // The protocol has no choice that forbids calls.
    hasTools: tools.length > 0 && choice !== 'none',
    caches: /claude|nova/.test(upstream),
    shortIds: upstream.includes('mistral'),
  };
  const system = converseContent(planned.system, rules);
  const inference = inferenceOf(settings, planned.maxTokens);
  return {
    path: `model/${encodeURIComponent(upstream)}/converse-stream`,
    headers: { accept: 'application/vnd.amazon.eventstream' },
    body: {
      messages: converseMessages(planned.messages, rules),
      ...(system.length > 0 && { system }),
      ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
      ...(rules.hasTools && {
        toolConfig: { tools: toolsToSend(tools).map(toolOf), ...choiceFields(choice) },
      }),
      ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
      ...(settings.service_tier && { serviceTier: { type: settings.service_tier } }),
    },
    sent,
  };
};

type Planned = {
  system: JsonObject[];
  messages: Turn[];
  maxTokens: number | undefined;
  settings: ModelSettings;
  tools: ChosenTools['tools'];
  choice: ChosenTools['choice'];
  /** Fields that only this model has. */
  fields: JsonObject;
  sent: SentSettings;
};

const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

const planClaude = (call: WireCall): Planned => {
  const { upstream } = call;
  const { max_tokens: maxTokens, thinking, hasBlocks, ...planned } = planMessages(call, 'bedrock');
  return {
    ...planned,
    maxTokens,
    fields: {
      ...thinkingFields(thinking, upstream, hasBlocks),
      ...outputFields(thinking),
      ...(hasBlocks && bindsThinking(upstream) && { anthropic_beta: [BINDING_BETA] }),
    },
  };
};

const planOther = (call: WireCall): Planned => {
  const { upstream, adapter, spec, request } = call;
  const { system, messages } = writeMessages(call, false, 'bedrock');
  // The limits of settings are those of the service, and the same as for Claude.
  const fitted = fitSettings(request.overrides, {
    format: 'anthropic',
    adapter,
    upstream,
    tools: request.tools,
    mostTokens: spec.max_output_tokens,
  });
  const { settings } = fitted;
  const { tools, choice: chosen } = chooseTools(request, takesChoice(upstream, request.toolChoice));
  // The default, which a model that takes no choice refuses as well.
  const choice = chosen === 'auto' ? undefined : chosen;
  const maxTokens = settings.max_tokens ?? spec.max_output_tokens;
  return {
    system,
    messages: messages.at(-1)?.role === 'assistant' ? [...messages, userTurn('Continue.')] : messages,
    maxTokens,
    settings,
    tools,
    choice,
    fields: effortFields(settings.reasoning_effort, upstream),
    sent: sentSettings(fitted, { max_tokens: maxTokens, tool_choice: choice }),
  };
};

/** Of the models of other companies only Nova can be told which tool to call; Mistral Large, that it calls one. */
const takesChoice = (upstream: string, choice: InferenceRequest['toolChoice']): boolean =>
  upstream.includes('nova') || (choice === 'required' && upstream.includes('mistral-large'));

const inferenceOf = (
  { temperature, top_p, stop }: ModelSettings,
  maxTokens: number | undefined,
): JsonObject => ({
  ...(maxTokens !== undefined && { maxTokens }),
  ...(temperature !== undefined && { temperature }),
  ...(top_p !== undefined && { topP: top_p }),
  ...(stop && { stopSequences: stop }),
});

const choiceFields = (choice: ChosenTools['choice']): JsonObject => {
  if (choice === undefined || choice === 'none') return {};
  if (typeof choice !== 'string') return { toolChoice: { tool: choice } };
  return { toolChoice: choice === 'required' ? { any: {} } : { auto: {} } };
};

/** Companies name it differently; a model of another company has no such field, and rejects one. */
const effortFields = (effort: ReasoningEffort | null | undefined, upstream: string): JsonObject => {
  if (effort == null) return {};
  const name = nameOf(effort);
  const level = name === 'max' ? 'high' : name;
  if (upstream.includes('openai.gpt-oss')) return { reasoning_effort: level === 'none' ? 'low' : level };
  if (!upstream.includes('nova-2')) return {};
  return {
    reasoningConfig: level === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: level },
  };
};

const toolOf = ({ name, description, parameters: json }: SentTool): JsonObject => ({
  toolSpec: { name, ...(description.trim() !== '' && { description }), inputSchema: { json } },
});
