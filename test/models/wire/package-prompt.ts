import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
} from '@ai-sdk/provider';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { describePart, isPartBlock, type PartBlock, sizeOfBlock } from '../../../src/schema/answer-part.ts';
import { describeMedia } from '../../../src/schema/described-media.ts';
import type { MediaBlock } from '../../../src/schema/media.ts';
import { type ContentBlock, type Message, textOf } from '../../../src/schema/message.ts';
import type { ModelSpec } from '../../../src/schema/model.ts';
import { nameForModel } from '../../../src/schema/model-tool.ts';

/**
 * Converts stored messages to a prompt of the provider packages, unchanged. The encoders are compared with it, and it
 * shares no code with them.
 */

export type PromptRules = {
  modalities: ModelSpec['modalities'];
  /** Whether the provider accepts system texts only before everything else; later ones are moved there. */
  systemFirst: boolean;
  /** Whether the model accepts pictures from its own completions; other models receive only a note. */
  ownPictures?: boolean;
  /** Options that make the provider cache everything up to the message that carries them. */
  cacheMark?: LanguageModelV3Message['providerOptions'];
};

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
  const pictures = picturesIn(messages, rules);
  const opening: LanguageModelV3Prompt = system.flatMap(systemMessage);
  // The system prompt comes first; the content after it may differ next time.
  mark(opening[0]);
  const rest: LanguageModelV3Prompt = [];
  for (const [index, message] of messages.entries()) {
    const target = message.role === 'system' && rules.systemFirst ? opening : rest;
    target.push(...CONVERT[message.role](message, names, { ...rules, pictures }));
    if (messages[index + 1]?.role !== 'tool')
      rest.push(...returnedPictures(messages, index, { ...rules, pictures }));
    if (index + 1 === cache?.stable_messages) mark(rest.at(-1));
  }
  return [...opening, ...rest];
};

type Convert = (
  message: Message,
  names: ToolNames,
  rules: PromptRules & { pictures: ReadonlySet<ContentBlock> },
) => LanguageModelV3Message[];

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
  const parts = content.flatMap((block, index): AssistantPart[] => {
    if ('source' in block && rules.pictures.has(block)) return [filePart(block, rules)];
    if (isPartBlock(block)) return [{ type: 'text', text: onItsOwnLine(block, content, index) }];
    if (block.type === 'text') return textPart(block.text);
    if (block.type === 'thinking') return [{ type: 'reasoning', text: block.thinking }];
    return block.type === 'tool_use' ? [callPart(block.id, block.name, block.input, names)] : [];
  });
  const calls = tool_calls.map(({ id, name, arguments: input }) => callPart(id, name, input, names));
  return parts.length + calls.length === 0 ? [] : [{ role: 'assistant', content: [...parts, ...calls] }];
};

/** Adds line breaks, because some packages concatenate texts. */
const onItsOwnLine = (block: PartBlock, content: readonly ContentBlock[], index: number): string => {
  const words = describePart(block);
  const isText = (each: ContentBlock | undefined) => each?.type === 'text' || (each && isPartBlock(each));
  return `${isText(content[index - 1]) ? '\n' : ''}${words}${content[index + 1]?.type === 'text' ? '\n' : ''}`;
};

/** Types that image models also accept as input. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

/** Limit in bytes for pictures in a request: services accept 20 MB in total, as base64. */
const MOST_PICTURES = 8 * 1024 * 1024;

/** The newest pictures of completions and results, as many as fit into a request. */
const picturesIn = (
  messages: readonly Message[],
  { modalities, ownPictures = false }: PromptRules,
): Set<ContentBlock> => {
  const found = new Set<ContentBlock>();
  const takes = modalities?.input?.length ? modalities.input.includes('image') : undefined;
  const ofAnswers = ownPictures && takes !== false;
  // A model rejects a request with a picture that it does not accept, and results of tools are in each later request.
  const ofResults = takes === true;
  if (!ofAnswers && !ofResults) return found;
  let bytes = 0;
  for (const { role, content } of messages.toReversed()) {
    if (!(role === 'assistant' ? ofAnswers : role === 'tool' && ofResults)) continue;
    for (const block of content) {
      if (block.type !== 'image' || block.source.type !== 'base64') continue;
      bytes += sizeOfBlock(block);
      if (bytes > MOST_PICTURES) return found;
      if (PICTURES.has(block.source.media_type.toLowerCase())) found.add(block);
    }
  }
  return found;
};

const CONVERT: Record<Message['role'], Convert> = {
  system: ({ content }) => systemMessage(textOf(content)),
  user: userMessages,
  assistant: assistantMessages,
  tool: ({ content, tool_call_id = '' }, names, { pictures }) => [
    toolMessage(tool_call_id, [textOf(content), ...leftOutOf(content, pictures)].join('\n'), names),
  ],
};

const leftOutOf = (content: readonly ContentBlock[], pictures: ReadonlySet<ContentBlock>): string[] =>
  content.flatMap((block) =>
    block.type === 'image' && block.source.type === 'base64' && !pictures.has(block)
      ? [describeMedia(block)]
      : [],
  );

/**
 * Sends pictures of the results that end here in a user message after them: not every provider accepts a picture in a
 * result, but all accept one there.
 */
const returnedPictures = (
  messages: readonly Message[],
  last: number,
  rules: PromptRules & { pictures: ReadonlySet<ContentBlock> },
): LanguageModelV3Message[] => {
  let first = last;
  while (messages[first]?.role === 'tool') first -= 1;
  const parts = messages
    .slice(first + 1, last + 1)
    .flatMap(({ content }) =>
      content.flatMap((block) =>
        'source' in block && rules.pictures.has(block) ? [filePart(block, rules)] : [],
      ),
    );
  if (parts.length === 0) return [];
  return [{ role: 'user', content: [{ type: 'text', text: 'Files of the results above:' }, ...parts] }];
};

const textPart = (text: string): { type: 'text'; text: string }[] =>
  text === '' ? [] : [{ type: 'text', text }];

const callPart = (id: string, name: string, input: unknown, names: ToolNames): AssistantPart => {
  const toolName = nameForModel(name);
  names.set(id, toolName);
  return { type: 'tool-call', toolCallId: id, toolName, input: input ?? {} };
};

const toolMessage = (id: string, value: string, names: ToolNames): ToolMessage => ({
  role: 'tool',
  content: [
    { type: 'tool-result', toolCallId: id, toolName: names.get(id) ?? id, output: { type: 'text', value } },
  ],
});

/** The type behind a URL is unknown; providers accept these types instead. */
const ASSUMED_TYPE: Record<MediaBlock['type'], string> = {
  image: 'image/*',
  document: 'application/pdf',
  audio: 'audio/mpeg',
  video: 'video/mp4',
};

const filePart = (block: MediaBlock, { modalities }: PromptRules): LanguageModelV3FilePart => {
  const { source, title } = block;
  const mediaType = source.type === 'base64' ? source.media_type : ASSUMED_TYPE[block.type];
  const modality = modalityOf(block.type, mediaType);
  if (modalities?.input?.length && !modalities.input.includes(modality)) {
    throw new ModelError('invalid_request', `this model does not take ${modality} input`);
  }
  return {
    type: 'file',
    mediaType,
    data: source.type === 'base64' ? source.data : urlOf(source.type === 'url' ? source.url : source.file_id),
    ...(title !== undefined && { filename: title }),
  };
};

const modalityOf = (
  type: MediaBlock['type'],
  mediaType: string,
): 'text' | 'image' | 'audio' | 'video' | 'pdf' => {
  if (type !== 'document') return type;
  return mediaType.startsWith('text/') ? 'text' : 'pdf';
};

const urlOf = (text: string): URL => {
  if (URL.canParse(text)) return new URL(text);
  throw new ModelError('invalid_request', `'${text}' is not a URL`);
};
