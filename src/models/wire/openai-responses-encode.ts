import type { JsonObject } from '../../schema/json.ts';
import { isOpenAiThinker } from '../effort.ts';
import type { InferenceRequest } from '../model.ts';
import { isStrictSchema, knownSchema } from '../output-schema.ts';
import { wireEffort } from '../settings/efforts.ts';
import { fitSettings, sentSettings } from '../settings/rules.ts';
import { toolsToSend } from '../tool-names.ts';
import { builtInTool, callLimit, includedBy } from './openai-built-in-tools.ts';
import { cacheFields, settingFields } from './openai-responses-effort.ts';
import { writePrompt } from './prompt.ts';
import { type FileForms, type FilePart, textOfFile, unsupported } from './prompt-media.ts';
import type { AssistantPart, PromptWriter, ResultPart, UserPart } from './prompt-parts.ts';
import { chooseTools } from './tool-choice.ts';
import type { WireCall, WireRequest } from './wire.ts';

/** Encodes a request of the Responses protocol: messages, calls, results and reasoning are items of one list. */
export const encodeResponses = (call: WireCall): WireRequest => {
  const { upstream, adapter, spec, request } = call;
  const { tools, choice } = chooseTools(request, true);
  const fitted = fitSettings(request.overrides, {
    format: 'openai-responses',
    adapter,
    upstream,
    isOpenAi: true,
    tools,
    mostTokens: spec.max_output_tokens,
  });
  const { settings } = fitted;
  const maxTokens = settings.max_tokens ?? spec.max_output_tokens;
  const builtIn = (request.provider_tools ?? []).flatMap(builtInTool);
  const { include: ofModel = [], ...fields } = settingFields(settings, call);
  const include = [...(Array.isArray(ofModel) ? ofModel : []), ...includedBy(request.provider_tools)];
  return {
    path: 'responses',
    headers: {},
    body: {
      model: upstream,
      input: inputOf(call),
      ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
      ...fields,
      ...callLimit(request.provider_tools),
      ...(include.length > 0 && { include }),
      ...cacheFields(request),
      store: false,
      ...(tools.length + builtIn.length > 0 && {
        tools: [...toolsToSend(tools).map((tool) => ({ type: 'function', ...tool })), ...builtIn],
      }),
      ...(choice !== undefined && {
        tool_choice: typeof choice === 'string' ? choice : { type: 'function', ...choice },
      }),
      ...(request.output && { text: { format: formatOf(request.output) } }),
      stream: true,
    },
    sent: sentSettings(fitted, {
      max_tokens: maxTokens,
      reasoning_effort: settings.reasoning_effort && wireEffort(settings.reasoning_effort, upstream, adapter),
      tool_choice: choice,
    }),
  };
};

const formatOf = ({ name, schema, strict }: NonNullable<InferenceRequest['output']>): JsonObject => ({
  type: 'json_schema',
  name,
  schema: knownSchema(schema),
  strict: strict && isStrictSchema(schema),
});

const inputOf = ({ upstream, provider, spec, request }: WireCall): JsonObject[] => {
  const input: JsonObject[] = [];
  const systemRole = isOpenAiThinker(upstream) ? 'developer' : 'system';
  const writer: PromptWriter = {
    system(text) {
      input.push({ role: systemRole, content: text });
    },
    user(parts) {
      input.push({ role: 'user', content: parts.map(userContent) });
    },
    assistant(parts) {
      input.push(...assistantItems(parts));
    },
    results(results) {
      input.push(...results.map(resultItem));
    },
  };
  writePrompt(
    request,
    {
      modalities: spec.modalities,
      systemFirst: false,
      ownPictures: false,
      files: FILE_FORMS,
      origin: { provider, model: upstream, format: 'openai-responses' },
    },
    writer,
  );
  return input;
};

const resultItem = ({ id, text, content }: ResultPart): JsonObject => ({
  type: 'function_call_output',
  call_id: id,
  output: content ? content.map(userContent) : text,
});

/**
 * Calls, texts and items of built-in tools carry no ids, because the provider stores none of them. Reasoning without a
 * following item of the same completion is omitted, because the provider rejects it ('without its required following
 * item'); reasoning of another service is omitted too, because the protocol has no item for it.
 */
const assistantItems = (parts: readonly AssistantPart[]): JsonObject[] => {
  const items: JsonObject[] = [];
  let reasoning: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'item' && part.tool === undefined) reasoning.push(part.item);
    const item = itemOf(part);
    if (!item) continue;
    items.push(...reasoning, item);
    reasoning = [];
  }
  return items;
};

const itemOf = (part: AssistantPart): JsonObject | undefined => {
  switch (part.type) {
    case 'text':
      return { role: 'assistant', content: [{ type: 'output_text', text: part.text }] };
    case 'call':
      return {
        type: 'function_call',
        call_id: part.id,
        name: part.name,
        arguments: JSON.stringify(part.input),
      };
    case 'item':
      return part.tool === undefined ? undefined : part.item;
    default:
      return undefined;
  }
};

const userContent = (part: UserPart, index: number): JsonObject =>
  part.type === 'text' ? { type: 'input_text', text: part.text } : fileContent(part, index);

const hasForm = (part: FilePart): boolean =>
  part.mediaType.startsWith('image/') ||
  'url' in part.data ||
  part.mediaType === 'application/pdf' ||
  textOfFile(part) !== undefined;

const FILE_FORMS: FileForms = {
  refusal: (part) => (hasForm(part) ? undefined : unsupported(`file part media type ${part.mediaType}`)),
  inResult: hasForm,
};

/** Requires a file for which a form exists. */
const fileContent = (part: FilePart, index: number): JsonObject => {
  const { mediaType, data, filename } = part;
  if (mediaType.startsWith('image/')) {
    return {
      type: 'input_image',
      image_url: 'url' in data ? data.url : `data:${mediaType};base64,${data.base64}`,
    };
  }
  if ('url' in data) return { type: 'input_file', file_url: data.url };
  const text = textOfFile(part);
  if (text !== undefined) return { type: 'input_text', text };
  return {
    type: 'input_file',
    filename: filename ?? `part-${index}.pdf`,
    file_data: `data:${mediaType};base64,${data.base64}`,
  };
};
