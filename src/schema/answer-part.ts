import { decodedSize, isBase64 } from './base64.ts';
import { describeMedia } from './described-media.ts';
import type { Json } from './json.ts';
import {
  type DataBlock,
  dataBlock,
  guessMediaType,
  isData,
  JSON_TYPE,
  type MediaBlock,
  mediaBlock,
  sourceAt,
  typeOfMedia,
  urlOfMedia,
} from './media.ts';
import type { ContentBlock } from './message.ts';
import { DEEPEST, isTooDeep } from './nesting.ts';
import { Invalid } from './outcome.ts';

/**
 * Parts of an answer that are not text: files, URLs and data, from tools, plugins, models and other services.
 *
 * Guarantees: every block created here can be stored, sent and shown, and no answer exceeds the limits below,
 * regardless of the source of its parts; sizes are checked before anything is decoded or copied. A block and its
 * activity in a stream are equivalent, so each can be created from the other. Cost per part: one check of its bytes,
 * and one copy of them as base64.
 */

/**
 * A part of an answer that is not text: a file, a URL or data.
 *
 * - `file`: the bytes, or their standard base64 with padding; at most 8 MiB decoded. `media_type` is their type, such
 *   as `image/png`.
 * - `url`: an `http:` or `https:` URL of at most 8,192 characters. Without `media_type` the end of the path determines
 *   the type.
 * - `data`: a JSON value of at most 8 MiB as text and 128 levels.
 * - `file_id`: a file that a tool has written or read, in the output of that tool.
 *
 * `filename`: at most 255 characters. One answer has at most 64 parts and 16 MiB.
 *
 * @example
 * ```ts
 * const parts: AnswerPart[] = [
 *   { file: Buffer.from('city,rain\nRome,3'), media_type: 'text/csv', filename: 'rain.csv' },
 *   { url: 'https://example.com/chart.png' },
 *   { data: { rows: 42 } },
 * ];
 * ```
 */
export type AnswerPart =
  | { file: string | Uint8Array; media_type: string; filename?: string }
  | { url: string; media_type?: string; filename?: string }
  | { data: Json; filename?: string }
  | { file_id: string; filename?: string };

/** The stored form of a part in a message. */
export type PartBlock = MediaBlock | DataBlock;

/** Maximum bytes of one file, decoded, or of the JSON of one data part. */
export const LARGEST_PART = 8 * 1024 * 1024;
/** Maximum bytes of all parts of one answer. */
export const LARGEST_ANSWER = 16 * 1024 * 1024;
export const MOST_PARTS = 64;
export const LONGEST_URL = 8192;
export const LONGEST_NAME = 255;
const LONGEST_TYPE = 255;

/** @throws Invalid with a message for the author of the part */
export const blockOfPart = (part: AnswerPart): PartBlock => {
  const kinds = ['file', 'url', 'data', 'file_id'].filter((key) => Object.hasOwn(part, key));
  if (kinds.length !== 1) throw new Invalid('a part has exactly one of file, url, data and file_id');
  if (part.filename !== undefined && !isName(part.filename))
    throw new Invalid(`a filename has 1 to ${LONGEST_NAME} characters, and no control characters`);
  if ('file' in part) return fileBlock(part);
  if ('file_id' in part) return referenceBlock(part);
  return 'url' in part ? urlBlock(part) : jsonBlock(part);
};

/** Returns the size that counts towards `LARGEST_ANSWER`. */
export const sizeOfBlock = (block: PartBlock): number => {
  if (block.type === 'text') return Buffer.byteLength(block.text);
  const { source } = block;
  if (source.type === 'base64') return decodedSize(source.data);
  return source.type === 'url' ? source.url.length : source.file_id.length;
};

/** Returns why an answer with these blocks cannot hold more; undefined when it can. */
export const findExcess = (held: readonly PartBlock[], more: readonly PartBlock[]): string | undefined => {
  if (more.length === 0) return undefined;
  const count = held.length + more.length;
  if (count > MOST_PARTS)
    return `an answer has at most ${MOST_PARTS} parts, and these would make it ${count}`;
  const bytes = [...held, ...more].reduce((sum, block) => sum + sizeOfBlock(block), 0);
  if (bytes <= LARGEST_ANSWER) return undefined;
  return `the parts of an answer have at most ${LARGEST_ANSWER} bytes, and these would make it ${bytes}`;
};

/**
 * Converts parts, which together must fit into one answer.
 *
 * @throws Invalid with the index of the invalid part
 */
export const blocksOfParts = (parts: readonly AnswerPart[]): PartBlock[] => {
  if (parts.length > MOST_PARTS)
    throw new Invalid(`an answer has at most ${MOST_PARTS} parts, and these are ${parts.length}`);
  const blocks: PartBlock[] = [];
  for (const [index, part] of parts.entries()) {
    try {
      const block = blockOfPart(part);
      const excess = findExcess(blocks, [block]);
      if (excess !== undefined) throw new Invalid(excess);
      blocks.push(block);
    } catch (error) {
      throw error instanceof Invalid ? new Invalid(`parts[${index}]: ${error.message}`) : error;
    }
  }
  return blocks;
};

const CONTROL = /\p{Cc}/u;

export const isName = (filename: string): boolean =>
  typeof filename === 'string' &&
  filename !== '' &&
  filename.length <= LONGEST_NAME &&
  !CONTROL.test(filename);

/** RFC 9110 8.3.1, with parameters. */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\\p{Cc}]*"))*$/u;

export const isMediaType = (text: string): boolean => text.length <= LONGEST_TYPE && MEDIA_TYPE.test(text);

const checkedType = (media_type: unknown): string => {
  const given = typeof media_type === 'string' ? media_type.trim() : '';
  if (isMediaType(given)) return given;
  throw new Invalid("media_type must be a media type, like 'image/png'");
};

const fileBlock = ({
  file,
  media_type: given,
  filename,
}: Extract<AnswerPart, { file: unknown }>): PartBlock => {
  const media_type = checkedType(given);
  const name = filename === undefined ? '' : ` '${filename}'`;
  if (typeof file !== 'string' && !(file instanceof Uint8Array))
    throw new Invalid('file must be bytes (Uint8Array) or their base64');
  const size = typeof file === 'string' ? decodedSize(file) : file.byteLength;
  if (size > LARGEST_PART)
    throw new Invalid(`the file${name} has ${size} bytes; a file of an answer has at most ${LARGEST_PART}`);
  return mediaBlock(media_type, { type: 'base64', media_type, data: base64Of(file, name) }, filename);
};

const base64Of = (file: string | Uint8Array, name: string): string => {
  if (typeof file !== 'string')
    return Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('base64');
  if (isBase64(file)) return file;
  throw new Invalid(`the file${name} is not standard base64 with padding`);
};

const PROTOCOLS = new Set(['http:', 'https:']);

export const isHttpUrl = (url: string): boolean =>
  url.length <= LONGEST_URL && URL.canParse(url) && PROTOCOLS.has(new URL(url).protocol);

const urlBlock = ({ url, media_type, filename }: Extract<AnswerPart, { url: unknown }>): PartBlock => {
  if (typeof url !== 'string' || !isHttpUrl(url))
    throw new Invalid(`url must be an http or https address of at most ${LONGEST_URL} characters`);
  const named = media_type === undefined ? undefined : checkedType(media_type);
  const source = { type: 'url' as const, url, ...(named !== undefined && { media_type: named }) };
  return mediaBlock(named ?? guessMediaType(url), source, filename);
};

/** The kind follows from the file when the reference is accepted. */
const referenceBlock = ({ file_id, filename }: Extract<AnswerPart, { file_id: unknown }>): PartBlock => ({
  type: 'document',
  source: { type: 'file', file_id: String(file_id) },
  ...(filename !== undefined && { title: filename }),
});

const jsonBlock = ({ data, filename }: Extract<AnswerPart, { data: unknown }>): PartBlock => {
  if (isTooDeep(data)) throw new Invalid(`the data nests deeper than ${DEEPEST} levels`);
  const json = jsonOf(data);
  const size = Buffer.byteLength(json);
  if (size > LARGEST_PART)
    throw new Invalid(`the data has ${size} bytes as JSON; data of an answer has at most ${LARGEST_PART}`);
  return { ...dataBlock(json), ...(filename !== undefined && { part: { filename } }) };
};

const jsonOf = (data: Json): string => {
  try {
    // The types promise JSON, but a caller may pass another value, which may have no JSON text.
    const json: string | undefined = JSON.stringify(data);
    if (json !== undefined) return json;
  } catch (error) {
    throw new Invalid(`the data is not JSON (${error})`);
  }
  throw new Invalid('the data is not JSON');
};

/** The activity of a part in the stream of a run (runtime.md 6.2). */
export type PartActivity =
  | { activity_type: 'file'; content: { url: string; mediaType: string; filename?: string } }
  | { activity_type: 'data'; content: { data: Json; filename?: string } };

export const activityOfBlock = (block: PartBlock): PartActivity => {
  if (block.type === 'text') {
    const filename = block.part?.filename;
    const named = filename === undefined ? {} : { filename };
    return { activity_type: 'data', content: { data: JSON.parse(block.text), ...named } };
  }
  const { title } = block;
  const mediaType = typeOfMedia(block);
  return {
    activity_type: 'file',
    content: {
      url: urlOfMedia(block, mediaType),
      mediaType,
      ...(title !== undefined && { filename: title }),
    },
  };
};

/** The inverse of `activityOfBlock`; undefined for an activity of another kind. */
export const blockOfActivity = ({
  activity_type,
  content,
}: {
  activity_type: string;
  content: unknown;
}): PartBlock | undefined => {
  if (typeof content !== 'object' || content === null) return undefined;
  const { url, mediaType, data, filename: given }: Record<string, unknown> = { ...content };
  const filename = typeof given === 'string' ? given : undefined;
  if (activity_type === 'data' && data !== undefined)
    return { ...dataBlock(JSON.stringify(data)), ...(filename !== undefined && { part: { filename } }) };
  if (activity_type !== 'file' || typeof url !== 'string' || typeof mediaType !== 'string') return undefined;
  const head = `data:${mediaType};base64,`;
  return url.startsWith(head)
    ? mediaBlock(mediaType, { type: 'base64', media_type: mediaType, data: url.slice(head.length) }, filename)
    : mediaBlock(mediaType, sourceAt(url, mediaType), filename);
};

/** Whether the block is a part of an answer: neither text, reasoning nor a call. */
export const isPartBlock = (block: ContentBlock): block is PartBlock => 'source' in block || isData(block);

/** Data up to this length is included in full, longer data by its name. */
const READ_OUT = 4000;

/**
 * Returns the text that a model receives for a part of an earlier answer: short data in full, and the name of
 * everything else. The model has already received the content of the parts in the results of its tools.
 */
export const describePart = (block: PartBlock): string => {
  if (block.type !== 'text') return describeMedia(block);
  if (block.text.length <= READ_OUT) return block.text;
  const filename = block.part?.filename;
  return `[data ${filename === undefined ? '' : `${filename}, `}${JSON_TYPE}, ${block.text.length} characters]`;
};
