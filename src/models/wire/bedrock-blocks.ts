import type { JsonObject } from '../../schema/json.ts';
import { ModelError } from '../errors.ts';
import { ANTHROPIC_FILES } from './anthropic-media.ts';
import type { Turn } from './anthropic-turn.ts';
import { mistralCallId } from './mistral-ids.ts';
import { type FileForms, type FilePart, unsupported } from './prompt-media.ts';
import { listOf, objectOf, textOf } from './read.ts';

/** Converts blocks of the Messages protocol to the form of Converse. */

export type BedrockRules = {
  /** Without tools the service rejects calls and results, so they are written as text. */
  hasTools: boolean;
  /** Whether the model accepts cache points. */
  caches: boolean;
  /** Whether the model accepts only call ids in Mistral's format. */
  shortIds: boolean;
};

export const converseMessages = (turns: readonly Turn[], rules: BedrockRules): JsonObject[] => {
  const names = createNames();
  return turns.map(({ role, content }) => {
    const blocks = converted(content, rules, names);
    // The service rejects a document without accompanying text.
    const isAlone = blocks.some(({ document }) => document) && !blocks.some(({ text }) => text);
    return { role, content: isAlone ? [...blocks, { text: '(see the document)' }] : blocks };
  });
};

export const converseContent = (content: readonly JsonObject[], rules: BedrockRules): JsonObject[] =>
  converted(content, rules, createNames());

type Names = (title: string | undefined) => string;

const converted = (content: readonly JsonObject[], rules: BedrockRules, names: Names): JsonObject[] =>
  content.flatMap((block) => [
    ...blocksOf(block, rules, names),
    ...(rules.caches && block.cache_control !== undefined ? [CACHE_POINT] : []),
  ]);

const CACHE_POINT: JsonObject = { cachePoint: { type: 'default' } };

const blocksOf = (block: JsonObject, rules: BedrockRules, names: Names): JsonObject[] => {
  if (rules.hasTools) return [blockOf(block, rules, names)];
  if (block.type === 'tool_use') return [{ text: describeCall(block) }];
  return block.type === 'tool_result' ? resultAsContent(block, names) : [blockOf(block, rules, names)];
};

const blockOf = (block: JsonObject, rules: BedrockRules, names: Names): JsonObject => {
  switch (block.type) {
    case 'text':
      return { text: textOf(block.text) ?? '' };
    case 'image':
    case 'document':
      return fileOf(block, names);
    case 'tool_use':
      return callOf(block, rules);
    case 'tool_result':
      return resultOf(block, rules, names);
    case 'thinking':
      return { reasoningContent: { reasoningText: reasoningText(block) } };
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: textOf(block.data) ?? '' } };
    default:
      throw new ModelError(
        'invalid_request',
        unsupported(`content of type ${textOf(block.type) ?? 'unknown'}`),
      );
  }
};

const reasoningText = ({ thinking, signature }: JsonObject): JsonObject => ({
  text: textOf(thinking) ?? '',
  ...(typeof signature === 'string' && { signature }),
});

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

const refusalOf = (part: FilePart): string | undefined => {
  if ('url' in part.data) return unsupported(`${part.kind} file parts with URLs`);
  return part.mediaType.startsWith('image/') && !IMAGE_TYPES.has(part.mediaType)
    ? unsupported(`file part media type ${part.mediaType}`)
    : ANTHROPIC_FILES.refusal?.(part);
};

export const CONVERSE_FILES: FileForms = {
  refusal: refusalOf,
  inResult: (part) => refusalOf(part) === undefined,
};

/** The format is the second half of the media type. */
const imageOf = (source: JsonObject | undefined): JsonObject => ({
  image: {
    format: (textOf(source?.media_type) ?? '').slice('image/'.length),
    source: { bytes: textOf(source?.data) ?? '' },
  },
});

const documentOf = ({ source: given, title }: JsonObject, names: Names): JsonObject => {
  const source = objectOf(given);
  const data = textOf(source?.data) ?? '';
  const isText = source?.type === 'text';
  return {
    document: {
      format: isText ? 'txt' : 'pdf',
      name: names(textOf(title)),
      source: { bytes: isText ? Buffer.from(data).toString('base64') : data },
    },
  };
};

const LONGEST_NAME = 150;

/** The service accepts only a few characters in a name, no consecutive spaces, and each name once per request. */
const createNames = (): Names => {
  let count = 0;
  return (title = '') => {
    count += 1;
    const name = title
      .replace(/\.[A-Za-z0-9]{1,5}$/, '')
      .replaceAll(/[^A-Za-z0-9()[\]-]+/g, ' ')
      .trim()
      .slice(0, LONGEST_NAME)
      .trimEnd();
    return `${name === '' ? 'document' : name} ${count}`;
  };
};

const idOf = (id: unknown, { shortIds }: BedrockRules): string => {
  const text = textOf(id) ?? '';
  return shortIds ? mistralCallId(text) : text;
};

const callOf = ({ id, name, input }: JsonObject, rules: BedrockRules): JsonObject => ({
  toolUse: { toolUseId: idOf(id, rules), name: textOf(name) ?? '', input: objectOf(input) ?? {} },
});

const resultOf = (
  { tool_use_id, content, is_error }: JsonObject,
  rules: BedrockRules,
  names: Names,
): JsonObject => {
  const parts =
    typeof content === 'string'
      ? [{ text: content }]
      : listOf(content).map((each) => blockOf(objectOf(each) ?? {}, rules, names));
  return {
    toolResult: {
      toolUseId: idOf(tool_use_id, rules),
      content: parts.length > 0 ? parts : [{ text: '(no output)' }],
      ...(is_error === true && { status: 'error' }),
    },
  };
};

const describeCall = ({ name, input }: JsonObject): string =>
  `[Call of ${textOf(name) ?? 'a tool'}] ${JSON.stringify(input ?? {})}`;

/** Writes a result as text, and its files as content of the message. */
const resultAsContent = ({ content }: JsonObject, names: Names): JsonObject[] => {
  const blocks = listOf(content).map((each) => objectOf(each) ?? {});
  const texts = blocks.flatMap(({ text }) => textOf(text) ?? []);
  return [
    { text: `[Result] ${textOf(content) ?? texts.join('\n')}`.trimEnd() },
    ...blocks.filter(({ type }) => type !== 'text').map((block) => fileOf(block, names)),
  ];
};

const fileOf = (block: JsonObject, names: Names): JsonObject =>
  block.type === 'image' ? imageOf(objectOf(block.source)) : documentOf(block, names);
