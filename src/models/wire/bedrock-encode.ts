import type { JsonObject } from '../../schema/json.ts';
import { nameForModel, schemaForModel } from '../../schema/model-tool.ts';
import type { ReasoningEffort } from '../../schema/run.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { nameOf } from '../effort.ts';
import { samplingFields, thinkingFields, WITHOUT_THINKING } from './anthropic-effort.ts';
import { planMessages } from './anthropic-encode.ts';
import { type Turn, userTurn, writeMessages } from './anthropic-messages.ts';
import { bindsThinking, isClaude } from './anthropic-models.ts';
import { type BedrockRules, converseContent, converseMessages } from './bedrock-blocks.ts';
import type { WireCall, WireRequest } from './wire.ts';

/**
 * A request of ConverseStream.
 *
 * Messages alternate and pair calls with results as those of the Messages protocol, so they are written in its form, and
 * then block by block in that of Converse. Claude has the same rules about thinking there; the reasoning of other models
 * is not sent back, because most of them reject it.
 */
export const encodeConverse = (call: WireCall): WireRequest => {
  const { upstream, request } = call;
  const rules: BedrockRules = {
    hasTools: request.tools.length > 0,
    caches: /claude|nova/.test(upstream),
    shortIds: upstream.includes('mistral'),
  };
  const planned = isClaude(upstream) ? planClaude(call) : planOther(call);
  const system = converseContent(planned.system, rules);
  return {
    path: `model/${encodeURIComponent(upstream)}/converse-stream`,
    headers: { accept: 'application/vnd.amazon.eventstream' },
    body: {
      messages: converseMessages(planned.messages, rules),
      ...(system.length > 0 && { system }),
      ...(Object.keys(planned.inference).length > 0 && { inferenceConfig: planned.inference }),
      ...(rules.hasTools && { toolConfig: { tools: request.tools.map(toolOf) } }),
      ...(Object.keys(planned.fields).length > 0 && { additionalModelRequestFields: planned.fields }),
    },
  };
};

type Planned = {
  system: JsonObject[];
  messages: Turn[];
  inference: JsonObject;
  /** What only this model has. */
  fields: JsonObject;
};

const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

const planClaude = (call: WireCall): Planned => {
  const { upstream, request } = call;
  const { system, messages, max_tokens, thinking, hasBlocks } = planMessages(call, 'bedrock');
  return {
    system,
    messages,
    inference: { maxTokens: max_tokens, ...sampled(samplingFields(request.overrides, upstream, thinking)) },
    fields: {
      ...thinkingFields(thinking, upstream, hasBlocks),
      ...(hasBlocks && bindsThinking(upstream) && { anthropic_beta: [BINDING_BETA] }),
    },
  };
};

const planOther = (call: WireCall): Planned => {
  const { upstream, spec, request } = call;
  const { overrides } = request;
  const { system, messages } = writeMessages(call, false, 'bedrock');
  const maxTokens = overrides.max_tokens ?? spec.max_output_tokens;
  return {
    system,
    messages: messages.at(-1)?.role === 'assistant' ? [...messages, userTurn('Continue.')] : messages,
    inference: {
      ...(maxTokens !== undefined && { maxTokens }),
      ...sampled(samplingFields(overrides, upstream, WITHOUT_THINKING)),
    },
    fields: effortFields(overrides.reasoning_effort, upstream),
  };
};

const sampled = ({ temperature, top_p }: JsonObject): JsonObject => ({
  ...(temperature !== undefined && { temperature }),
  ...(top_p !== undefined && { topP: top_p }),
});

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

const toolOf = ({ id, description, parameters }: ToolDescriptor): JsonObject => {
  const fitted = schemaForModel(parameters);
  // A client may declare a tool whose schema no provider accepts; the client gets its arguments as the model wrote them.
  const json = 'schema' in fitted ? fitted.schema : { type: 'object', properties: {} };
  return {
    toolSpec: {
      name: nameForModel(id),
      ...(description.trim() !== '' && { description }),
      inputSchema: { json },
    },
  };
};
