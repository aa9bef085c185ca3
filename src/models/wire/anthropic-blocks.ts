import { exactJson } from '../../schema/exact-integers.ts';
import type { Json, JsonObject } from '../../schema/json.ts';
import type { InferenceSource } from '../model.ts';
import { listOf, objectOf, textOf } from './read.ts';

/** Content blocks of a completion, while they are received and in the form for later requests. */

export type Block = {
  index: number;
  type: string;
  /** Text or thinking. */
  text: string;
  /** The signature of thinking; the last one counts. */
  signature: string;
  /** The id of a call. */
  id: string;
  name: string;
  /** Arguments of a call from its deltas; `given` holds those from its start. */
  args: string;
  given: string;
  citations: Json[];
  /** The block in its start event. */
  start: JsonObject;
};

/** `index`: the position in the completion. */
export const newBlock = (index: number, start: JsonObject): Block => ({
  index,
  type: textOf(start.type) ?? '',
  text: '',
  signature: textOf(start.signature) ?? '',
  id: '',
  name: textOf(start.name) ?? '',
  args: '',
  given: inputText(start.input),
  citations: [],
  start,
});

/** The API starts each call with an empty object and streams the arguments; some services send them here instead. */
const inputText = (input: Json | undefined): string => {
  if (typeof input === 'string') return input;
  const object = objectOf(input);
  return object && Object.keys(object).length > 0 ? exactJson(object) : '';
};

export const argumentsOf = ({ args, given }: Block): string => (args === '' ? given : args);

/** The thinking of a completion in the form for the next request; undefined if there is none. */
export const thinkingItem = ({ type, text, signature, start }: Block): JsonObject | undefined => {
  if (type === 'redacted_thinking')
    return typeof start.data === 'string' ? { type, data: start.data } : undefined;
  // Services other than Anthropic do not sign thinking, but some of them still require it back.
  if (signature === '') return text === '' ? undefined : { type, thinking: text };
  return { type, thinking: text, signature };
};

/** The content of a completion that the service has paused; empty if there is nothing to continue. */
export const toContent = (blocks: readonly Block[]): JsonObject[] => {
  const content = blocks.map(sentBack).filter((block) => block !== undefined);
  const last = content.at(-1);
  // The service rejects trailing whitespace.
  return last && typeof last.text === 'string'
    ? [...content.slice(0, -1), { ...last, text: last.text.trimEnd() }]
    : content;
};

/** The block in the form for later requests; undefined if it has none. */
export const sentBack = (block: Block): JsonObject | undefined => {
  const { type, text, citations, start } = block;
  if (type === 'thinking' || type === 'redacted_thinking') return thinkingItem(block);
  if (type !== 'text') return 'input' in start ? { ...start, input: parsedInput(argumentsOf(block)) } : start;
  if (text.trim() === '') return undefined;
  return { type, text, ...(citations.length > 0 && { citations }) };
};

const parsedInput = (args: string): JsonObject => {
  try {
    return objectOf(JSON.parse(args)) ?? {};
  } catch {
    // The arguments are truncated or missing.
    return {};
  }
};

/** Sources in the result of a tool that the service executed. */
export const sourcesOfResult = ({ type, content }: JsonObject): InferenceSource[] => {
  if (type === 'web_search_tool_result') {
    return listOf(content).flatMap((each) => {
      const result = objectOf(each);
      return result ? urlSource(result.url, result.title) : [];
    });
  }
  if (type !== 'web_fetch_tool_result') return [];
  const fetched = objectOf(content);
  return fetched ? urlSource(fetched.url, objectOf(fetched.content)?.title) : [];
};

const DOCUMENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['page_location', 'application/pdf'],
  ['char_location', 'text/plain'],
  ['content_block_location', 'text/plain'],
]);

export const sourcesOfCitation = (citation: JsonObject): InferenceSource[] => {
  const type = textOf(citation.type) ?? '';
  if (type === 'web_search_result_location') return urlSource(citation.url, citation.title);
  if (type === 'search_result_location') return urlSource(citation.source, citation.title);
  const media_type = DOCUMENT_TYPES.get(type);
  if (media_type === undefined) return [];
  const number = typeof citation.document_index === 'number' ? citation.document_index + 1 : 1;
  const title = textOf(citation.document_title) || `Document ${number}`;
  return [{ type: 'document', id: `document-${number}`, media_type, title }];
};

/** The address is the id, so equal addresses are the same source. */
const urlSource = (url: unknown, title: unknown): InferenceSource[] => {
  if (typeof url !== 'string' || !URL.canParse(url)) return [];
  return [{ type: 'url', id: url, url, ...(typeof title === 'string' && title !== '' && { title }) }];
};
