import { fileIdIn, fileUrl } from './file-url.ts';
import { kindOfMedia } from './media-kind.ts';
import { type ContentBlock, textOf } from './message.ts';

/** Media types of content: the kind of a block, and the type of a file without a declared one. */

export type MediaBlock = Extract<ContentBlock, { source: unknown }>;
export type TextBlock = Extract<ContentBlock, { type: 'text' }>;
/** A text block that was received as data. */
export type DataBlock = TextBlock & { media_type: 'application/json' };

export const JSON_TYPE = 'application/json';
export const UNKNOWN_TYPE = 'application/octet-stream';

export const mediaBlock = (media_type: string, source: MediaBlock['source'], title?: string): MediaBlock => ({
  type: kindOfMedia(media_type),
  source,
  ...(title && { title }),
});

/** The longest head of a `data:` URL that is read, in characters. */
const LONGEST_HEAD = 1024;

const DATA_HEAD = /^data:([^;,]+)((?:;[^;,]+)*);base64,/i;

/**
 * Splits a `data:` URL in base64 (RFC 2397) into its media type, its parameters, and its data. Returns undefined for
 * any other URL. Only the head is matched: an expression on a long text can exhaust the stack.
 *
 * @example
 * splitDataUrl('data:image/png;base64,AAAA'); // { media_type: 'image/png', parameters: '', data: 'AAAA' }
 */
export const splitDataUrl = (url: string): DataUrl | undefined => {
  const [head, media_type = '', parameters = ''] = DATA_HEAD.exec(url.slice(0, LONGEST_HEAD)) ?? [];
  return head === undefined ? undefined : { media_type, parameters, data: url.slice(head.length) };
};

/** `parameters`: such as `;charset=utf-8`, or empty. */
type DataUrl = { media_type: string; parameters: string; data: string };

/** Protocols without a field for bytes send them in a `data:` URL. */
export const sourceAt = (url: string, media_type?: string): MediaBlock['source'] => {
  const inline = splitDataUrl(url);
  if (inline) return { type: 'base64', media_type: media_type ?? inline.media_type, data: inline.data };
  const file_id = fileIdIn(url);
  if (file_id !== undefined)
    return { type: 'file', file_id, ...(media_type !== undefined && { media_type }) };
  return { type: 'url', url, ...(media_type !== undefined && { media_type }) };
};

/** The inverse of `sourceAt`: bytes are in a `data:` URL. */
export const urlOfMedia = ({ source }: MediaBlock, media_type: string): string => {
  if (source.type === 'url') return source.url;
  return source.type === 'file' ? fileUrl(source.file_id) : `data:${media_type};base64,${source.data}`;
};

/** Creates a block from JSON text: readers that only support text treat it as text. */
export const dataBlock = (json: string): DataBlock => ({ type: 'text', text: json, media_type: JSON_TYPE });

export const isData = (block: ContentBlock): block is DataBlock =>
  block.type === 'text' && block.media_type === JSON_TYPE;

/** Media types by file extension (a2a.md 7.2). */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
  webm: 'video/webm',
  pdf: 'application/pdf',
  json: 'application/json',
  txt: 'text/plain',
  md: 'text/plain',
};

/** Types of files in addition: texts, which models without support for files can read. */
const FILE_TYPES: Readonly<Record<string, string>> = {
  ...MEDIA_TYPES,
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  log: 'text/plain',
  html: 'text/html',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

/** Returns the media type of a URL, as far as its suffix shows it. */
export const guessMediaType = (url: string): string => typeBySuffix(url.replace(/[?#].*$/s, ''), MEDIA_TYPES);

/** Returns the media type of a file, as far as the suffix of its name shows it. */
export const guessFileType = (name: string): string => typeBySuffix(name, FILE_TYPES);

const typeBySuffix = (name: string, types: Readonly<Record<string, string>>): string => {
  const suffix = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(types, suffix) && types[suffix]) || UNKNOWN_TYPE;
};

/** Returns the type of a media block: that of its source, or else of its URL. */
export const typeOfMedia = ({ source }: MediaBlock): string =>
  source.media_type ?? (source.type === 'url' ? guessMediaType(source.url) : UNKNOWN_TYPE);

/** Whether a file contains text, which a model without support for files can read. */
export const isTextType = (media_type: string): boolean =>
  TEXT_TYPE.test((media_type.split(';')[0] ?? '').trim());

const TEXT_TYPE =
  /^(text\/.+|application\/(json|xml|yaml|x-yaml|toml|javascript|sql|x-ndjson|.+\+(json|xml|yaml)))$/i;

/** The kind of input that a model must accept for a file. */
export type Modality = 'text' | 'image' | 'audio' | 'video' | 'pdf';

/** A document with an unknown type counts as a PDF. */
export const modalityOf = (block: MediaBlock): Modality => {
  if (block.type !== 'document') return block.type;
  const type = typeOfMedia(block);
  return type !== UNKNOWN_TYPE && isTextType(type) ? 'text' : 'pdf';
};

/** The first base64 characters of image formats; the type declared by a client may be wrong, and providers check it. */
const IMAGE_HEADS: readonly [head: RegExp, type: string][] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  // `RIFF`, four bytes of length, `WEBP`
  [/^UklGR.{6}XRUJQ/, 'image/webp'],
];

/** Returns the type of an image by its bytes; undefined for formats that models do not accept. */
export const imageTypeOf = (base64: string): string | undefined =>
  IMAGE_HEADS.find(([head]) => head.test(base64))?.[1];

/** Returns the text of an answer, without its data. */
export const textWithoutData = (content: readonly ContentBlock[]): string =>
  textOf(content.filter((block) => !isData(block)));
