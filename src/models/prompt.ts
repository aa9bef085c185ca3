import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
} from '@ai-sdk/provider';
import { type ContentBlock, type Message, textOf } from '../schema/message.ts';
import type { ModelSpec } from '../schema/model.ts';
import { ModelError } from './errors.ts';
import type { InferenceRequest } from './model.ts';

/**
 * Stored messages as a prompt of the provider packages.
 *
 * Guarantees: every tool result names the tool of its call; nothing empty is sent (providers refuse empty text
 * and empty messages); a block the model is known not to take fails here, before the provider is called.
 * Costs: one pass over the history, nothing kept.
 */

export type PromptRules = {
  modalities: ModelSpec['modalities'];
  /** The provider takes system texts only before everything else; later ones are moved there. */
  systemFirst: boolean;
  /** Options that tell the provider to keep everything up to the message that carries them. */
  cacheMark?: LanguageModelV3Message['providerOptions'];
};

type Media = Extract<ContentBlock, { source: unknown }>;
type UserPart = Extract<LanguageModelV3Message, { role: 'user' }>['content'][number];
type AssistantPart = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'][number];
type ToolMessage = Extract<LanguageModelV3Message, { role: 'tool' }>;
type ToolNames = Map<string, string>;

export const toPrompt = (
  { system, messages, cache }: InferenceRequest,
  rules: PromptRules,
): LanguageModelV3Prompt => {
  const mark = (message: LanguageModelV3Message | undefined): void => {
    if (message && cache && rules.cacheMark) message.providerOptions = rules.cacheMark;
  };
  const names: ToolNames = new Map();
  const opening: LanguageModelV3Prompt = system.flatMap(systemMessage);
  // The system prompt comes first; what follows it may be different next time.
  mark(opening[0]);
  const rest: LanguageModelV3Prompt = [];
  for (const [index, message] of messages.entries()) {
    const target = message.role === 'system' && rules.systemFirst ? opening : rest;
    target.push(...CONVERT[message.role](message, names, rules));
    if (index + 1 === cache?.stable_messages) mark(rest.at(-1));
  }
  return [...opening, ...rest];
};

type Convert = (message: Message, names: ToolNames, rules: PromptRules) => LanguageModelV3Message[];

const systemMessage = (content: string): LanguageModelV3Message[] =>
  content === '' ? [] : [{ role: 'system', content }];

const userMessages: Convert = ({ content }, names, rules) => {
  const results = content.flatMap((block) =>
    block.type === 'tool_result' ? [toolMessage(block.tool_use_id, textOf(block.content), names)] : [],
  );
  const parts = content.flatMap((block): UserPart[] => {
    if (block.type === 'text') return textPart(block.text);
    return 'source' in block ? [filePart(block, rules)] : [];
  });
  return parts.length === 0 ? results : [...results, { role: 'user', content: parts }];
};

const assistantMessages: Convert = ({ content, tool_calls = [] }, names, rules) => {
  const parts = content.flatMap((block): AssistantPart[] => {
    if (block.type === 'text') return textPart(block.text);
    if (block.type === 'thinking') return [{ type: 'reasoning', text: block.thinking }];
    if (block.type === 'tool_use') return [callPart(block.id, block.name, block.input, names)];
    return 'source' in block ? [filePart(block, rules)] : [];
  });
  const calls = tool_calls.map(({ id, name, arguments: input }) => callPart(id, name, input, names));
  return parts.length + calls.length === 0 ? [] : [{ role: 'assistant', content: [...parts, ...calls] }];
};

const CONVERT: Record<Message['role'], Convert> = {
  system: ({ content }) => systemMessage(textOf(content)),
  user: userMessages,
  assistant: assistantMessages,
  tool: ({ content, tool_call_id = '' }, names) => [toolMessage(tool_call_id, textOf(content), names)],
};

const textPart = (text: string): { type: 'text'; text: string }[] =>
  text === '' ? [] : [{ type: 'text', text }];

const callPart = (id: string, name: string, input: unknown, names: ToolNames): AssistantPart => {
  names.set(id, name);
  return { type: 'tool-call', toolCallId: id, toolName: name, input: input ?? {} };
};

const toolMessage = (id: string, value: string, names: ToolNames): ToolMessage => ({
  role: 'tool',
  content: [
    { type: 'tool-result', toolCallId: id, toolName: names.get(id) ?? id, output: { type: 'text', value } },
  ],
});

/** A URL does not say what it leads to; these are the types providers accept in its place. */
const ASSUMED_TYPE: Record<Media['type'], string> = {
  image: 'image/*',
  document: 'application/pdf',
  audio: 'audio/mpeg',
  video: 'video/mp4',
};

const filePart = (block: Media, { modalities }: PromptRules): LanguageModelV3FilePart => {
  const { source, title } = block;
  const mediaType = source.type === 'base64' ? source.media_type : ASSUMED_TYPE[block.type];
  const modality = modalityOf(block.type, mediaType);
  if (modalities?.input?.length && !modalities.input.includes(modality)) {
    throw new ModelError('invalid_request', `this model does not take ${modality} input`);
  }
  return {
    type: 'file',
    mediaType,
    data: source.type === 'base64' ? source.data : urlOf(source.url),
    ...(title !== undefined && { filename: title }),
  };
};

const modalityOf = (type: Media['type'], mediaType: string): 'text' | 'image' | 'audio' | 'video' | 'pdf' => {
  if (type !== 'document') return type;
  return mediaType.startsWith('text/') ? 'text' : 'pdf';
};

const urlOf = (text: string): URL => {
  if (URL.canParse(text)) return new URL(text);
  throw new ModelError('invalid_request', `'${text}' is not a URL`);
};
