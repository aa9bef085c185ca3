import type { Json, JsonObject } from '../../schema/json.ts';
import type { ChatOptions } from '../chat-options.ts';
import { isOpenAiThinker } from '../effort.ts';
import type { InferenceRequest } from '../model.ts';
import { isStrictSchema, knownSchema } from '../output-schema.ts';
import { wireEffort } from '../settings/efforts.ts';
import { fitSettings, sentSettings } from '../settings/rules.ts';
import { toolsToSend } from '../tool-names.ts';
import { cacheFields, limitFields, settingFields } from './openai-chat-effort.ts';
import { joinReasoning } from './openai-chat-reasoning.ts';
import { writePrompt } from './prompt.ts';
import { type FileForms, type FilePart, textOfFile, unsupported } from './prompt-media.ts';
import type { AssistantPart, CallPart, PromptWriter, UserPart } from './prompt-parts.ts';
import { objectOf } from './read.ts';
import { type ChosenTools, chooseTools } from './tool-choice.ts';
import type { WireCall, WireRequest } from './wire.ts';

/** Encodes the request of one inference in Chat Completions. */
export function encodeChat(call: WireCall, options: ChatOptions): WireRequest {
  const { upstream, adapter, spec, request } = call;
  // If a service requires reasoning for every call, its models think, and a call cannot be forced then.
  const { tools, choice } = chooseTools(request, options.reasoning !== 'required');
  const fitted = fitSettings(request.overrides, {
    format: 'openai-chat',
    adapter,
    upstream,
    isOpenAi: options.service === 'openai',
    tools,
    mostTokens: spec.max_output_tokens,
  });
  const { settings } = fitted;
  const limit = settings.max_tokens ?? spec.max_output_tokens;
  return {
    path: 'chat/completions',
    headers: {},
    body: {
      model: upstream,
      ...limitFields(limit, upstream),
      ...settingFields(settings, call),
      ...cacheFields(request, options),
      messages: messagesOf(call, options),
      ...(tools.length > 0 && {
        tools: toolsToSend(tools).map((tool) => ({ type: 'function', function: tool })),
      }),
      ...(choice !== undefined && { tool_choice: choiceOf(choice) }),
      ...(request.output && { response_format: responseFormat(request.output) }),
      stream: true,
      stream_options: { include_usage: true },
    },
    sent: sentSettings(fitted, {
      max_tokens: limit,
      reasoning_effort: settings.reasoning_effort && wireEffort(settings.reasoning_effort, upstream, adapter),
      tool_choice: choice,
    }),
  };
}

function responseFormat({ name, schema, strict }: NonNullable<InferenceRequest['output']>): JsonObject {
  return {
    type: 'json_schema',
    json_schema: { name, schema: knownSchema(schema), strict: strict && isStrictSchema(schema) },
  };
}

function choiceOf(choice: NonNullable<ChosenTools['choice']>): Json {
  return typeof choice === 'string' ? choice : { type: 'function', function: choice };
}

function messagesOf({ upstream, provider, spec, request }: WireCall, options: ChatOptions): JsonObject[] {
  const messages: JsonObject[] = [];
  const role = options.service === 'openai' && isOpenAiThinker(upstream) ? 'developer' : 'system';
  const writer: PromptWriter = {
    system: (content) => messages.push({ role, content }),
    user: (parts) => messages.push({ role: 'user', content: userContent(parts) }),
    assistant: (parts) => messages.push(assistantMessage(parts, options)),
    results(results) {
      for (const { id, text } of results) messages.push({ role: 'tool', tool_call_id: id, content: text });
    },
  };
  const origin = { provider, model: upstream, format: 'openai-chat' };
  writePrompt(
    request,
    { modalities: spec.modalities, systemFirst: false, ownPictures: false, files: FILE_FORMS, origin },
    writer,
  );
  return messages;
}

function assistantMessage(parts: readonly AssistantPart[], { reasoning }: ChatOptions): JsonObject {
  let text = '';
  let thoughts = '';
  const calls: JsonObject[] = [];
  const items: JsonObject[] = [];
  /** Extra fields that Gemini requires back with the next call. */
  let extra: JsonObject | undefined;
  for (const part of parts) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'thought') thoughts += part.text;
    else if (part.type === 'call') {
      calls.push(callOf(part, extra));
      extra = undefined;
    } else if (part.type === 'item' && reasoning !== 'none') {
      extra = objectOf(part.item.extra_content) ?? extra;
      items.push(part.item);
    }
  }
  return {
    role: 'assistant',
    content: calls.length > 0 ? text || null : text,
    ...(reasoning === 'required' && calls.length > 0 && { reasoning_content: thoughts }),
    ...joinReasoning(items),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function callOf({ id, name, input }: CallPart, extra: JsonObject | undefined): JsonObject {
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
    ...(extra && { extra_content: extra }),
  };
}

function userContent(parts: readonly UserPart[]): string | JsonObject[] {
  const [first] = parts;
  if (parts.length === 1 && first?.type === 'text') return first.text;
  return parts.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : fileOf(part)));
}

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
]);

/** A tool message contains only text. */
const FILE_FORMS: FileForms = {
  refusal(part) {
    const { mediaType, data } = part;
    if (mediaType.startsWith('image/') || textOfFile(part) !== undefined) return undefined;
    if (mediaType.startsWith('audio/')) {
      if ('url' in data) return unsupported('audio file parts with URLs');
      return AUDIO_FORMATS.has(mediaType) ? undefined : unsupported(`audio media type ${mediaType}`);
    }
    if (mediaType !== 'application/pdf') return unsupported(`file part media type ${mediaType}`);
    return 'url' in data ? unsupported('PDF file parts with URLs') : undefined;
  },
};

/** Requires a file for which a form exists. */
function fileOf(part: FilePart): JsonObject {
  const { mediaType, data, filename } = part;
  if (mediaType.startsWith('image/') || 'url' in data) {
    return {
      type: 'image_url',
      image_url: { url: 'url' in data ? data.url : `data:${mediaType};base64,${data.base64}` },
    };
  }
  const format = AUDIO_FORMATS.get(mediaType);
  if (format !== undefined) return { type: 'input_audio', input_audio: { data: data.base64, format } };
  const text = textOfFile(part);
  if (text !== undefined) return { type: 'text', text };
  const file_data = `data:${mediaType};base64,${data.base64}`;
  return { type: 'file', file: { filename: filename ?? 'document.pdf', file_data } };
}
