import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { LanguageModelV4CallOptions } from 'ai-sdk-provider-4';
import { nearestNamedEffort } from '../models/effort.ts';
import type { InferenceRequest } from '../models/model.ts';
import { type SentTool, toolsToSend } from '../models/tool-names.ts';
import { type ChosenTools, chooseTools } from '../models/wire/tool-choice.ts';
import type { ModelSpec } from '../schema/model.ts';
import type { AiSdkModel, AiSdkProviderOptions } from './model.ts';
import { type PromptRules, toPrompt, toPrompt4 } from './prompt.ts';
import { joinedOptions } from './settings.ts';

/** Converts an inference to the options of an AI SDK call. */

export type CallRules = PromptRules & {
  spec: Pick<ModelSpec, 'max_output_tokens'>;
  providerOptions: AiSdkProviderOptions | undefined;
};

export type CallOptions = LanguageModelV3CallOptions | LanguageModelV4CallOptions;

/** @throws ModelError for content that the model does not accept */
export function toCall(
  version: AiSdkModel['specificationVersion'],
  request: InferenceRequest,
  { spec, providerOptions, ...rules }: CallRules,
): CallOptions {
  const { temperature, top_p, max_tokens, stop, seed, reasoning_effort } = request.overrides;
  const { presence_penalty, frequency_penalty } = request.overrides;
  const options = joinedOptions(providerOptions, request);
  const maxOutputTokens = max_tokens ?? spec.max_output_tokens;
  const { tools, choice } = chooseTools(request, true);
  const shared = {
    ...(tools.length > 0 && { tools: toolsToSend(tools).map(toFunctionTool) }),
    ...(choice !== undefined && { toolChoice: toToolChoice(choice) }),
    ...(request.output && { responseFormat: toResponseFormat(request.output) }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { topP: top_p }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(stop && { stopSequences: stop }),
    ...(seed != null && { seed }),
    ...(presence_penalty != null && { presencePenalty: presence_penalty }),
    ...(frequency_penalty != null && { frequencyPenalty: frequency_penalty }),
    ...(options && { providerOptions: options }),
    ...(request.trace && { headers: { ...request.trace } }),
  };
  if (version === 'v3') return { ...shared, prompt: toPrompt(request, rules) };
  return {
    ...shared,
    prompt: toPrompt4(request, rules),
    ...(reasoning_effort != null && { reasoning: nearestNamedEffort(reasoning_effort) }),
  };
}

type FunctionTool = Extract<NonNullable<LanguageModelV3CallOptions['tools']>[number], { type: 'function' }>;

type ResponseFormat = Extract<NonNullable<LanguageModelV3CallOptions['responseFormat']>, { type: 'json' }>;

const toResponseFormat = ({ name, schema }: NonNullable<InferenceRequest['output']>): ResponseFormat => ({
  type: 'json',
  name,
  // A JSON Schema; the type of the package is stricter than JSON.
  schema: schema as NonNullable<ResponseFormat['schema']>,
});

const toToolChoice = (
  choice: NonNullable<ChosenTools['choice']>,
): NonNullable<LanguageModelV3CallOptions['toolChoice']> =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name };

const toFunctionTool = ({ name, description, parameters }: SentTool): FunctionTool => ({
  type: 'function',
  name,
  description,
  // The parameters of a descriptor are a JSON Schema by definition; the type of the package is stricter than JSON.
  inputSchema: parameters as FunctionTool['inputSchema'],
});
