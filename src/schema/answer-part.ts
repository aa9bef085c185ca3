import { decodedSize, isBase64 } from './base64.ts';
import { describeMedia } from './described-media.ts';
import type { Json } from './json.ts';
import {
  type DataBlock,
  dataBlock,
  isData,
  JSON_TYPE,
  type MediaBlock,
  mediaBlock,
  mediaTypeOf,
  typeOfMedia,
} from './media.ts';
import type { ContentBlock } from './message.ts';
import { DEEPEST, isTooDeep } from './nesting.ts';
import { Invalid } from './outcome.ts';

/**
 * Parts of an answer that are not text: files, addresses and data, from tools, plugins, models and other services.
 *
 * Guarantees: what becomes a block can be stored, sent and shown, and no answer holds more of it than the limits
 * below, whoever makes the parts; sizes are looked at before anything is decoded or copied. A block and the activity
 * that tells of it in a stream say the same, so either can be made of the other.
 * Costs a part one look at its bytes, and one copy of them as base64.
 */

/**
 * A part of an answer that is not text: a file, an address or data.
 *
 * - `file`: the bytes, or their standard base64 with padding; at most 8 MiB decoded. `media_type` says what they
 *   are (`image/png`).
 * - `url`: an `http:` or `https:` address of at most 8,192 characters. Without `media_type` it follows from the end
 *   of the path.
 * - `data`: any JSON value, at most 8 MiB as text and 128 levels deep.
 *
 * `filename`: at most 255 characters. One answer holds at most 64 parts and 16 MiB.
 *
 * @example
 * const parts: AnswerPart[] = [
 *   { file: await readFile('report.pdf'), media_type: 'application/pdf', filename: 'report.pdf' },
 *   { url: 'https://example.com/chart.png' },
 *   { data: { rows: 42 } },
 * ];
 */
export type AnswerPart =
  | { file: string | Uint8Array; media_type: string; filename?: string }
  | { url: string; media_type?: string; filename?: string }
  | { data: Json; filename?: string };

/** How such a part is stored in a message. */
export type PartBlock = MediaBlock | DataBlock;

/** Bytes of one file, decoded, or of the JSON of one piece of data. */
export const LARGEST_PART = 8 * 1024 * 1024;
/** Bytes of all parts of one answer. */
export const LARGEST_ANSWER = 16 * 1024 * 1024;
export const MOST_PARTS = 64;
export const LONGEST_URL = 8192;
export const LONGEST_NAME = 255;
const LONGEST_TYPE = 255;

/** @throws Invalid in words for whoever made the part */
export const blockOfPart = (part: AnswerPart): PartBlock => {
  const kinds = ['file', 'url', 'data'].filter((key) => Object.hasOwn(part, key));
  if (kinds.length !== 1) throw new Invalid('a part has exactly one of file, url and data');
  if (part.filename !== undefined && !isName(part.filename))
    throw new Invalid(`a filename has 1 to ${LONGEST_NAME} characters, and no control characters`);
  if ('file' in part) return fileBlock(part);
  return 'url' in part ? urlBlock(part) : jsonBlock(part);
};

/** What of it counts for `LARGEST_ANSWER`. */
export const sizeOfBlock = (block: PartBlock): number => {
  if (block.type === 'text') return Buffer.byteLength(block.text);
  return block.source.type === 'base64' ? decodedSize(block.source.data) : block.source.url.length;
};

/** Why an answer that holds these blocks cannot hold those too; undefined when it can. */
export const excessOf = (held: readonly PartBlock[], more: readonly PartBlock[]): string | undefined => {
  if (more.length === 0) return undefined;
  const count = held.length + more.length;
  if (count > MOST_PARTS)
    return `an answer has at most ${MOST_PARTS} parts, and these would make it ${count}`;
  const bytes = [...held, ...more].reduce((sum, block) => sum + sizeOfBlock(block), 0);
  if (bytes <= LARGEST_ANSWER) return undefined;
  return `the parts of an answer have at most ${LARGEST_ANSWER} bytes, and these would make it ${bytes}`;
};

/**
 * All of them together are what one answer may hold.
 * @throws Invalid that says which part is wrong
 */
export const blocksOfParts = (parts: readonly AnswerPart[]): PartBlock[] => {
  if (parts.length > MOST_PARTS)
    throw new Invalid(`an answer has at most ${MOST_PARTS} parts, and these are ${parts.length}`);
  const blocks: PartBlock[] = [];
  for (const [index, part] of parts.entries()) {
    try {
      const block = blockOfPart(part);
      const excess = excessOf(blocks, [block]);
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
  return mediaBlock(named ?? mediaTypeOf(url), source, filename);
};

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
    // Types promise JSON, and whoever makes the part may break the promise: then there may be no text.
    const json: string | undefined = JSON.stringify(data);
    if (json !== undefined) return json;
  } catch (error) {
    throw new Invalid(`the data is not JSON (${error})`);
  }
  throw new Invalid('the data is not JSON');
};

/** How a part is told in the stream of a run (runtime.md 6.2): an activity of this type, with this content. */
export type PartActivity =
  | { activity_type: 'file'; content: { url: string; mediaType: string; filename?: string } }
  | { activity_type: 'data'; content: { data: Json; filename?: string } };

export const activityOfBlock = (block: PartBlock): PartActivity => {
  if (block.type === 'text') {
    const filename = block.part?.filename;
    const named = filename === undefined ? {} : { filename };
    return { activity_type: 'data', content: { data: JSON.parse(block.text), ...named } };
  }
  const { source, title } = block;
  const mediaType = typeOfMedia(block);
  return {
    activity_type: 'file',
    content: {
      url: source.type === 'url' ? source.url : `data:${mediaType};base64,${source.data}`,
      mediaType,
      ...(title !== undefined && { filename: title }),
    },
  };
};

/** The way back; undefined for an activity that tells of no part. */
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
    : mediaBlock(mediaType, { type: 'url', url, media_type: mediaType }, filename);
};

/** Blocks that are parts of an answer: all but words, thoughts and calls. */
export const isPartBlock = (block: ContentBlock): block is PartBlock => 'source' in block || isData(block);

/** Longer data is named in place of being read out. */
const READ_OUT = 4000;

/**
 * What a model reads of a part that stands in an answer: short data as it is, the name of everything else. An answer
 * is told once; what its parts were made of, the model has read in the results of its tools.
 */
export const wordsForPart = (block: PartBlock): string => {
  if (block.type !== 'text') return describeMedia(block);
  if (block.text.length <= READ_OUT) return block.text;
  const filename = block.part?.filename;
  return `[data ${filename === undefined ? '' : `${filename}, `}${JSON_TYPE}, ${block.text.length} characters]`;
};
