import type { JsonObject } from '../../schema/json.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import type { InferenceRequest, SentSettings } from '../model.ts';
import { isClaude } from '../settings/anthropic-models.ts';
import { type WireEffort, wireEffort } from '../settings/efforts.ts';
import { fitSettings, sentSettings } from '../settings/rules.ts';
import { type SentTool, toolsToSend } from '../tool-names.ts';
import { bindingBetas, outputFields, thinkingFields } from './anthropic-effort.ts';
import { planMessages } from './anthropic-encode.ts';
import { type Target, userTurn, writeMessages } from './anthropic-messages.ts';
import type { Turn } from './anthropic-turn.ts';
import { type BedrockRules, CONVERSE_FILES, converseContent, converseMessages } from './bedrock-blocks.ts';
import { type ChosenTools, chooseTools } from './tool-choice.ts';
import type { WireCall, WireRequest } from './wire.ts';

/**
 * Encodes a request of ConverseStream.
 *
 * Messages alternate and pair calls with results as in the Messages protocol, so they are written in its form and then
 * converted block by block. Claude has the same thinking rules on Bedrock; the reasoning of other models is not sent
 * back, because most of them reject it.
 */
export const encodeConverse = (call: WireCall): WireRequest => {
  const { upstream } = call;
  const planned = isClaude(upstream) ? planClaude(call) : planOther(call);
  const { tools, choice, settings, fields, sent } = planned;
  const rules: BedrockRules = {
    // The protocol has no tool choice that forbids calls.
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
  /** Fields that only this model supports. */
  fields: JsonObject;
  sent: SentSettings;
};

const CONVERSE: Target = { format: 'bedrock', files: CONVERSE_FILES };

const planClaude = (call: WireCall): Planned => {
  const { upstream } = call;
  const { max_tokens: maxTokens, thinking, hasBlocks, ...planned } = planMessages(call, CONVERSE);
  const betas = bindingBetas(upstream, hasBlocks);
  return {
    ...planned,
    maxTokens,
    fields: {
      ...thinkingFields(thinking, upstream, hasBlocks),
      ...outputFields(thinking),
      ...(betas.length > 0 && { anthropic_beta: betas }),
    },
  };
};

const planOther = (call: WireCall): Planned => {
  const { upstream, adapter, spec, request } = call;
  const { system, messages } = writeMessages(call, false, CONVERSE);
  // The service limits the settings of these models in the same way as for Claude.
  const fitted = fitSettings(request.overrides, {
    format: 'anthropic',
    adapter,
    upstream,
    tools: request.tools,
    mostTokens: spec.max_output_tokens,
  });
  const { settings } = fitted;
  const { tools, choice: chosen } = chooseTools(request, takesChoice(upstream, request.toolChoice));
  // `auto` is the default, and a model without tool choice rejects even that.
  const choice = chosen === 'auto' ? undefined : chosen;
  const maxTokens = settings.max_tokens ?? spec.max_output_tokens;
  const effort = settings.reasoning_effort && wireEffort(settings.reasoning_effort, upstream, 'bedrock');
  return {
    system,
    messages: messages.at(-1)?.role === 'assistant' ? [...messages, userTurn('Continue.')] : messages,
    maxTokens,
    settings,
    tools,
    choice,
    fields: effortFields(effort, upstream),
    sent: sentSettings(fitted, { max_tokens: maxTokens, reasoning_effort: effort, tool_choice: choice }),
  };
};

/**
 * Among the other models, Nova accepts every choice and Mistral Large accepts `required`; the rest reject the field.
 */
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

/** Companies use different names for the field. */
const effortFields = (effort: WireEffort | undefined, upstream: string): JsonObject => {
  if (effort === undefined) return {};
  if (!upstream.includes('nova-2')) return { reasoning_effort: effort };
  return {
    reasoningConfig:
      effort === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: effort },
  };
};

const toolOf = ({ name, description, parameters: json }: SentTool): JsonObject => ({
  toolSpec: { name, ...(description.trim() !== '' && { description }), inputSchema: { json } },
});
