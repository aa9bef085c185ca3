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
import { type PromptRules as WritingRules, writePrompt } from '../models/wire/prompt.ts';
import { idForModel } from '../models/wire/prompt-ids.ts';
import type { FilePart } from '../models/wire/prompt-media.ts';
import type { AssistantPart, CallPart, ResultPart, UserPart } from '../models/wire/prompt-parts.ts';
import { type ItemOf, readItem } from './items.ts';
import type { AiSdkProviderOptions } from './model.ts';

/** Converts the history of a thread to the prompt of an AI SDK model. */

export type PromptRules = Pick<WritingRules, 'modalities' | 'systemFirst'> &
  Partial<Pick<WritingRules, 'ownPictures'>> & {
    /** The model whose reasoning is sent back; if absent, none is. */
    origin?: WritingRules['origin'];
    /** Options of the messages up to which the provider should cache the prompt. */
    cacheMark?: AiSdkProviderOptions | undefined;
  };

/** For version 3 of the specification. @throws ModelError for content that the model does not accept */
export const toPrompt = (request: InferenceRequest, rules: PromptRules): LanguageModelV3Prompt =>
  messagesOf<LanguageModelV3FilePart, never>(request, rules, { file: toFile3, custom: () => [] });

/** For version 4 of the specification. */
export const toPrompt4 = (request: InferenceRequest, rules: PromptRules): LanguageModelV4Prompt =>
  messagesOf<LanguageModelV4FilePart, LanguageModelV4CustomPart>(request, rules, {
    file: toFile4,
    custom: ({ kind, metadata }) => [{ type: 'custom', kind, ...withOptions(metadata) }],
  });

/** The differences between the versions. */
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

/** The content so far, and its texts, which may still receive options. */
type Written<File, Custom> = { content: Content<File, Custom>[]; texts: LanguageModelV3TextPart[] };

function assistantContent<File, Custom>(
  parts: readonly AssistantPart[],
  version: Version<File, Custom>,
): Content<File, Custom>[] {
  const optionsOfCalls = callOptionsIn(parts);
  const written: Written<File, Custom> = { content: [], texts: [] };
  for (const part of parts) {
    switch (part.type) {
      case 'text':
        addText(written, part.text);
        break;
      case 'file':
        written.content.push(version.file(part));
        break;
      case 'thought':
        written.content.push({ type: 'reasoning', text: part.text });
        break;
      case 'call':
        written.content.push(toCall(part, optionsOfCalls));
        break;
      case 'item':
        addItem(written, readItem(part.item), version);
    }
  }
  return written.content;
}

function addText<File, Custom>({ content, texts }: Written<File, Custom>, text: string): void {
  const part: LanguageModelV3TextPart = { type: 'text', text };
  texts.push(part);
  content.push(part);
}

const toCall = (
  { id, name, input }: CallPart,
  options: ReadonlyMap<string, AiSdkProviderOptions>,
): LanguageModelV3ToolCallPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: name,
  input,
  ...withOptions(options.get(id)),
});

/** The item of a call is read by `callOptionsIn`. */
function addItem<File, Custom>(
  { content, texts }: Written<File, Custom>,
  item: ReturnType<typeof readItem>,
  version: Version<File, Custom>,
): void {
  if (item?.type === 'reasoning')
    content.push({ type: 'reasoning', text: item.text, ...withOptions(item.metadata) });
  else if (item?.type === 'custom') content.push(...version.custom(item));
  else if (item?.type === 'text') addOptions(item, texts, content);
}

/** The options of a call are available at its end, so their item follows the call. */
function callOptionsIn(parts: readonly AssistantPart[]): Map<string, AiSdkProviderOptions> {
  const options = new Map<string, AiSdkProviderOptions>();
  for (const part of parts) {
    const item = part.type === 'item' ? readItem(part.item) : undefined;
    if (item?.type === 'call') options.set(idForModel(item.id), item.metadata);
  }
  return options;
}

/** The options belong to the last characters before the item; earlier text was another block. */
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
