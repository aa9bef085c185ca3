import type {
  LanguageModelV3FilePart,
  LanguageModelV3Prompt,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
} from '@ai-sdk/provider';
import type {
  LanguageModelV4CustomPart,
  LanguageModelV4FilePart,
  LanguageModelV4Prompt,
} from 'ai-sdk-provider-4';
import type { InferenceRequest } from '../models/model.ts';
import { idForModel, type PromptRules as WritingRules, writePrompt } from '../models/wire/prompt.ts';
import type { FilePart } from '../models/wire/prompt-media.ts';
import type { AssistantPart, ResultPart, UserPart } from '../models/wire/prompt-parts.ts';
import { type ItemOf, readItem } from './items.ts';
import type { AiSdkProviderOptions } from './model.ts';

/** The history of a thread as the prompt of an AI SDK model. */

export type PromptRules = Pick<WritingRules, 'modalities' | 'systemFirst'> &
  Partial<Pick<WritingRules, 'ownPictures'>> & {
    /** Whose reasoning is sent back; absent: none is. */
    origin?: WritingRules['origin'];
    /** Options of the messages up to which the provider is asked to keep the prompt. */
    cacheMark?: AiSdkProviderOptions | undefined;
  };

/** Of a model with version 3 of the specification. @throws ModelError for content that the model does not accept */
export const toPrompt = (request: InferenceRequest, rules: PromptRules): LanguageModelV3Prompt =>
  messagesOf<LanguageModelV3FilePart, never>(request, rules, { file: toFile3, custom: () => [] });

/** Of version 4. */
export const toPrompt4 = (request: InferenceRequest, rules: PromptRules): LanguageModelV4Prompt =>
  messagesOf<LanguageModelV4FilePart, LanguageModelV4CustomPart>(request, rules, {
    file: toFile4,
    custom: ({ kind, metadata }) => [{ type: 'custom', kind, ...withOptions(metadata) }],
  });

/** What differs between the versions. */
type Version<File, Custom> = {
  file(part: FilePart): File;
  custom(item: ItemOf<'custom'>): Custom[];
};

type Content<File, Custom> =
  | LanguageModelV3TextPart
  | LanguageModelV3ReasoningPart
  | LanguageModelV3ToolCallPart
  | File
  | Custom;

type ToolResult = {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text'; value: string };
};

type PromptMessage<File, Custom> = (
  | { role: 'system'; content: string }
  | { role: 'user'; content: (LanguageModelV3TextPart | File)[] }
  | { role: 'assistant'; content: Content<File, Custom>[] }
  | { role: 'tool'; content: ToolResult[] }
) & { providerOptions?: AiSdkProviderOptions };

const NO_ORIGIN: WritingRules['origin'] = { provider: '', model: '', format: '' };

function messagesOf<File, Custom>(
  request: InferenceRequest,
  { cacheMark, origin = NO_ORIGIN, ownPictures = false, ...rules }: PromptRules,
  version: Version<File, Custom>,
): PromptMessage<File, Custom>[] {
  const messages: PromptMessage<File, Custom>[] = [];
  const add = (message: PromptMessage<File, Custom>, isStable: boolean): void => {
    messages.push(isStable && cacheMark ? { ...message, providerOptions: cacheMark } : message);
  };
  const toUserPart = (part: UserPart) => (part.type === 'text' ? part : version.file(part));
  writePrompt(
    request,
    { ...rules, ownPictures, origin },
    {
      system: (content, isStable) => add({ role: 'system', content }, isStable),
      user: (parts, isStable) => add({ role: 'user', content: parts.map(toUserPart) }, isStable),
      assistant: (parts, isStable) =>
        add({ role: 'assistant', content: assistantContent(parts, version) }, isStable),
      results: (results, isStable) => add({ role: 'tool', content: results.map(toResult) }, isStable),
    },
  );
  return messages;
}

const toResult = ({ id, name, text }: ResultPart): ToolResult => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: name,
  output: { type: 'text', value: text },
});

function assistantContent<File, Custom>(
  parts: readonly AssistantPart[],
  version: Version<File, Custom>,
): Content<File, Custom>[] {
  const optionsOfCalls = callOptionsIn(parts);
  const content: Content<File, Custom>[] = [];
  const texts: LanguageModelV3TextPart[] = [];
  const add = (part: Content<File, Custom>): void => void content.push(part);
  for (const part of parts) {
    if (part.type === 'text') {
      const text: LanguageModelV3TextPart = { type: 'text', text: part.text };
      texts.push(text);
      add(text);
    } else if (part.type === 'file') add(version.file(part));
    else if (part.type === 'thought') add({ type: 'reasoning', text: part.text });
    else if (part.type === 'call') {
      const { id: toolCallId, name: toolName, input } = part;
      add({ type: 'tool-call', toolCallId, toolName, input, ...withOptions(optionsOfCalls.get(toolCallId)) });
    } else {
      const item = readItem(part.item);
      if (item?.type === 'reasoning')
        add({ type: 'reasoning', text: item.text, ...withOptions(item.metadata) });
      else if (item?.type === 'custom') for (const custom of version.custom(item)) add(custom);
      else if (item?.type === 'text') addOptions(item, texts, content);
    }
  }
  return content;
}

/** Options of a call are known at its end, so the item with them stands behind the call. */
function callOptionsIn(parts: readonly AssistantPart[]): Map<string, AiSdkProviderOptions> {
  const options = new Map<string, AiSdkProviderOptions>();
  for (const part of parts) {
    const item = part.type === 'item' ? readItem(part.item) : undefined;
    if (item?.type === 'call') options.set(idForModel(item.id), item.metadata);
  }
  return options;
}

/** The options belong to the last characters before the item: what is before them was another block of text. */
function addOptions(
  { length, metadata }: ItemOf<'text'>,
  texts: readonly LanguageModelV3TextPart[],
  content: unknown[],
): void {
  const text = texts.findLast((each) => each.text.length >= length && !each.providerOptions);
  if (!text) return;
  const before = text.text.slice(0, text.text.length - length);
  text.text = text.text.slice(before.length);
  text.providerOptions = metadata;
  if (before.trim() !== '') content.splice(content.indexOf(text), 0, { type: 'text', text: before });
}

const withOptions = (
  providerOptions: AiSdkProviderOptions | undefined,
): { providerOptions?: AiSdkProviderOptions } => (providerOptions ? { providerOptions } : {});

const toFile3 = ({ mediaType, data, filename }: FilePart): LanguageModelV3FilePart => ({
  type: 'file',
  mediaType,
  data: 'base64' in data ? data.base64 : new URL(data.url),
  ...(filename !== undefined && { filename }),
});

const toFile4 = ({ mediaType, data, filename }: FilePart): LanguageModelV4FilePart => ({
  type: 'file',
  mediaType,
  data: 'base64' in data ? { type: 'data', data: data.base64 } : { type: 'url', url: new URL(data.url) },
  ...(filename !== undefined && { filename }),
});
