import type { JsonObject } from '../../schema/json.ts';
import { ModelError } from '../errors.ts';
import type { Turn } from './anthropic-turn.ts';
import { mistralCallId } from './mistral-ids.ts';
import { listOf, objectOf, textOf } from './read.ts';

/** Blocks of the Messages protocol in the form of Converse. */

export type BedrockRules = {
  /** Without tools the service rejects calls and results, so they are written as text. */
  hasTools: boolean;
  /** The model accepts cache points. */
  caches: boolean;
  /** The model accepts only ids of calls that Mistral could have made. */
  shortIds: boolean;
};

export const converseMessages = (turns: readonly Turn[], rules: BedrockRules): JsonObject[] => {
  const names = createNames();
  return turns.map(({ role, content }) => {
    const blocks = converted(content, rules, names);
    // The service rejects a document without a text next to it.
    const isAlone = blocks.some(({ document }) => document) && !blocks.some(({ text }) => text);
    return { role, content: isAlone ? [...blocks, { text: '(see the document)' }] : blocks };
  });
};

export const converseContent = (content: readonly JsonObject[], rules: BedrockRules): JsonObject[] =>
  converted(content, rules, createNames());

type Names = (title: string | undefined) => string;

const converted = (content: readonly JsonObject[], rules: BedrockRules, names: Names): JsonObject[] =>
  content.flatMap((block) => [
    blockOf(block, rules, names),
    ...(rules.caches && block.cache_control !== undefined ? [CACHE_POINT] : []),
  ]);

const CACHE_POINT: JsonObject = { cachePoint: { type: 'default' } };

const blockOf = (block: JsonObject, rules: BedrockRules, names: Names): JsonObject => {
  switch (block.type) {
    case 'text':
      return { text: textOf(block.text) ?? '' };
    case 'image':
      return imageOf(objectOf(block.source));
    case 'document':
      return documentOf(block, names);
    case 'tool_use':
      return rules.hasTools ? callOf(block, rules) : { text: wordsForCall(block) };
    case 'tool_result':
      return rules.hasTools ? resultOf(block, rules, names) : { text: wordsForResult(block) };
    case 'thinking':
      return { reasoningContent: { reasoningText: reasoningText(block) } };
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: textOf(block.data) ?? '' } };
    default:
      throw unsupported(`content of type ${textOf(block.type) ?? 'unknown'}`);
  }
};

const unsupported = (what: string): ModelError =>
  new ModelError('invalid_request', `${what} not supported by this provider`);

const reasoningText = ({ thinking, signature }: JsonObject): JsonObject => ({
  text: textOf(thinking) ?? '',
  ...(typeof signature === 'string' && { signature }),
});

const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

const imageOf = (source: JsonObject | undefined): JsonObject => {
  if (source?.type === 'url') throw unsupported('image file parts with URLs');
  const mediaType = textOf(source?.media_type) ?? '';
  const format = IMAGE_FORMATS.get(mediaType);
  if (format === undefined) throw unsupported(`file part media type ${mediaType}`);
  return { image: { format, source: { bytes: textOf(source?.data) ?? '' } } };
};

const documentOf = ({ source: given, title }: JsonObject, names: Names): JsonObject => {
  const source = objectOf(given);
  if (source?.type === 'url') throw unsupported('document file parts with URLs');
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

/** The service accepts few characters, no two blanks in a row, and each name only once in a request. */
const createNames = (): Names => {
  let count = 0;
  return (title = '') => {
    count += 1;
    const name = title
      .replace(/\.[A-Za-z0-9]{1,5}$/, '')
      .replaceAll(/[^A-Za-z0-9()[\]-]+/g, ' ')
      .trim()
      .slice(0, LONGEST_NAME);
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

const wordsForCall = ({ name, input }: JsonObject): string =>
  `[Call of ${textOf(name) ?? 'a tool'}] ${JSON.stringify(input ?? {})}`;

const wordsForResult = ({ content }: JsonObject): string =>
  `[Result] ${textOf(content) ?? JSON.stringify(content ?? '')}`;
