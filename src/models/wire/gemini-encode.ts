import type { Json, JsonObject } from '../../schema/json.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import type { ProviderTool } from '../../schema/provider-tool.ts';
import { ModelError } from '../errors.ts';
import { knownSchema } from '../output-schema.ts';
import { fitSettings, sentSettings } from '../settings/rules.ts';
import { type SentTool, toolsToSend } from '../tool-names.ts';
import { builtInTools } from './gemini-built-in-tools.ts';
import { createContents } from './gemini-contents.ts';
import { geminiThinking } from './gemini-effort.ts';
import { toParameters } from './gemini-schema.ts';
import { writePrompt } from './prompt.ts';
import { type FilePart, textOfFile, unsupported } from './prompt-media.ts';
import { textOf } from './read.ts';
import { type ChosenTools, chooseTools } from './tool-choice.ts';
import type { WireCall, WireRequest } from './wire.ts';

export type GeminiRules = {
  /** Vertex AI rejects ids of calls and results, and has Google's models under `publishers/google/`. */
  platform: 'gemini' | 'vertex';
};

export const encodeGemini = (call: WireCall, { platform }: GeminiRules): WireRequest => {
  const { upstream, provider, adapter, spec, request, pauses } = call;
  const isNewer = isGemini3(upstream);
  const contents = createContents({
    callIds: platform === 'gemini',
    needsSignatures: isNewer,
    systemInContents: /(^|\/)gemma-/i.test(upstream),
  });
  const rules = {
    modalities: spec.modalities,
    systemFirst: true,
    ownPictures: takesOwnPictures(upstream),
    files: { refusal, inResult: (part: FilePart) => isNewer && RESULT_TYPES.has(part.mediaType) },
    origin: { provider, model: upstream, format: 'gemini' },
  };
  writePrompt(request, rules, contents);
  const { tools, choice } = chooseTools(request, true);
  const fitted = fitSettings(request.overrides, {
    format: 'gemini',
    adapter: adapter ?? platform,
    upstream,
    tools,
    mostTokens: spec.max_output_tokens,
  });
  const { settings } = fitted;
  const maxOutputTokens = settings.max_tokens ?? spec.max_output_tokens;
  const thinkingConfig = settings.reasoning_effort && geminiThinking(settings.reasoning_effort, upstream);
  const continuationToken = textOf(pauses.at(-1)?.continuationToken);
  return {
    path: `${modelPath(upstream, platform)}:streamGenerateContent?alt=sse`,
    headers: {},
    body: {
      generationConfig: {
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
        ...settingFields(settings),
        ...(thinkingConfig && { thinkingConfig }),
        ...(request.output && {
          responseMimeType: 'application/json',
          responseJsonSchema: knownSchema(request.output.schema),
        }),
      },
      ...(settings.service_tier && { serviceTier: settings.service_tier }),
      ...contents.body(),
      ...toolFields({ tools, choice }, request.provider_tools),
      ...(continuationToken !== undefined && { continuationToken }),
    },
    sent: sentSettings(fitted, {
      max_tokens: maxOutputTokens,
      reasoning_effort: thinkingConfig && sentEffort(thinkingConfig),
      tool_choice: choice,
    }),
  };
};

const toolFields = (
  { tools, choice }: ChosenTools,
  providerTools: readonly ProviderTool[] | undefined,
): JsonObject => {
  const builtIn = builtInTools(providerTools);
  const functions = tools.length > 0 ? [{ functionDeclarations: toolsToSend(tools).map(declarationOf) }] : [];
  const toolConfig = {
    ...(choice !== undefined && { functionCallingConfig: callingOf(choice) }),
    // The service rejects a request with both kinds of tools unless this is set.
    ...(functions.length > 0 && builtIn.length > 0 && { includeServerSideToolInvocations: true }),
  };
  return {
    ...(functions.length + builtIn.length > 0 && { tools: [...functions, ...builtIn] }),
    ...(Object.keys(toolConfig).length > 0 && { toolConfig }),
  };
};

/**
 * Whether the model is Gemini 3 or later. These reject calls of the history without a signature, and accept files in
 * results. A name of an unknown generation counts as a newer one.
 */
const isGemini3 = (upstream: string): boolean =>
  /(^|\/)gemini-/i.test(upstream) &&
  !/(^|\/)gemini-([12]([.-]|$)|pro(-vision)?$|robotics-er-1\.5([.-]|$))/i.test(upstream);

/** Types that are documented for user messages, in addition to text. An image at a URL has an unknown type. */
const FILE_TYPES = /^(image\/(\*|png|jpeg|webp|heic|heif)|application\/pdf|(audio|video)\/.+)$/;

const refusal = (part: FilePart): string | undefined =>
  FILE_TYPES.test(part.mediaType) || textOfFile(part) !== undefined
    ? undefined
    : unsupported(`file part media type ${part.mediaType}`);

/** Types that are documented for results. */
const RESULT_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'application/pdf',
  'text/plain',
]);

/** Later models reject a picture without the signature of its thought, which is not stored. */
const takesOwnPictures = (upstream: string): boolean => /(^|\/)gemini-[12]\b/.test(upstream);

/**
 * Accepts `gemini-2.5-pro`, `models/gemini-2.5-pro`, `tunedModels/a`; on Vertex also
 * `publishers/google/models/gemini-2.5-pro`.
 */
const modelPath = (upstream: string, platform: GeminiRules['platform']): string => {
  const name = platform === 'vertex' ? upstream.replace(/^publishers\/google\//, '') : upstream;
  const segments = name.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new ModelError('invalid_request', `'${upstream}' is not the name of a model`);
  const path = segments.map((segment) => encodeURIComponent(segment).replaceAll('%40', '@')).join('/');
  return segments.length > 1 ? path : `models/${path}`;
};

const settingFields = ({ temperature, top_p, stop, seed }: ModelSettings): JsonObject => ({
  ...(temperature !== undefined && { temperature }),
  ...(top_p !== undefined && { topP: top_p }),
  ...(stop && { stopSequences: stop }),
  ...(seed !== undefined && { seed }),
});

const sentEffort = ({ thinkingLevel = null, thinkingBudget = null }: JsonObject): Json =>
  thinkingLevel ?? { budget: thinkingBudget };

const MODE = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

const callingOf = (choice: NonNullable<ChosenTools['choice']>): JsonObject =>
  typeof choice === 'string' ? { mode: MODE[choice] } : { mode: 'ANY', allowedFunctionNames: [choice.name] };

const declarationOf = ({ name, description, parameters: fitted }: SentTool): JsonObject => {
  const parameters = toParameters(fitted);
  return { name, description, ...(parameters && { parameters }) };
};
