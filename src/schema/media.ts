import { type ContentBlock, textOf } from './message.ts';

/** What a media type makes of content: the kind of its block, and what an address leads to when nobody says so. */

export type MediaBlock = Extract<ContentBlock, { source: unknown }>;
export type TextBlock = Extract<ContentBlock, { type: 'text' }>;
/** Data that came as data. */
export type DataBlock = TextBlock & { media_type: 'application/json' };

export const JSON_TYPE = 'application/json';
export const UNKNOWN_TYPE = 'application/octet-stream';

const KINDS = ['image', 'audio', 'video'] as const;

/** By the family of the type; everything else is a document. */
export const kindOfMedia = (media_type: string): MediaBlock['type'] => {
  const family = media_type.trim().toLowerCase();
  return KINDS.find((kind) => family.startsWith(`${kind}/`)) ?? 'document';
};

export const mediaBlock = (media_type: string, source: MediaBlock['source'], title?: string): MediaBlock => ({
  type: kindOfMedia(media_type),
  source,
  ...(title && { title }),
});

const DATA_URL = /^data:([^;,]+)((?:;[^;,]+)*);base64,/i;

/** Protocols without a form for bytes have them in a `data:` URL. */
export const sourceAt = (url: string, media_type?: string): MediaBlock['source'] => {
  const [head, given = ''] = DATA_URL.exec(url) ?? [];
  if (head !== undefined)
    return { type: 'base64', media_type: media_type ?? given, data: url.slice(head.length) };
  return { type: 'url', url, ...(media_type !== undefined && { media_type }) };
};

/** Of data that is written as JSON: for whoever knows only text it is text. */
export const dataBlock = (json: string): DataBlock => ({ type: 'text', text: json, media_type: JSON_TYPE });

export const isData = (block: ContentBlock): block is DataBlock =>
  block.type === 'text' && block.media_type === JSON_TYPE;

/** By the end of the path (a2a.md 7.2). */
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

/** What a URL leads to, as far as its suffix tells. */
export const mediaTypeOf = (url: string): string => {
  const path = url.replace(/[?#].*$/s, '');
  const suffix = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(MEDIA_TYPES, suffix) && MEDIA_TYPES[suffix]) || UNKNOWN_TYPE;
};

/** Of a block with media: what its source says, or else its address. */
export const typeOfMedia = ({ source }: MediaBlock): string =>
  source.media_type ?? (source.type === 'url' ? mediaTypeOf(source.url) : UNKNOWN_TYPE);

/** Text in a file: what a model without files can read as text. */
export const isTextType = (media_type: string): boolean =>
  TEXT_TYPE.test((media_type.split(';')[0] ?? '').trim());

const TEXT_TYPE =
  /^(text\/.+|application\/(json|xml|yaml|x-yaml|toml|javascript|sql|x-ndjson|.+\+(json|xml|yaml)))$/i;

/** The kind of input that a model must accept for a file. */
export type Modality = 'text' | 'image' | 'audio' | 'video' | 'pdf';

/** An address that says nothing of a document is that of a PDF. */
export const modalityOf = (block: MediaBlock): Modality => {
  if (block.type !== 'document') return block.type;
  const type = typeOfMedia(block);
  return type !== UNKNOWN_TYPE && isTextType(type) ? 'text' : 'pdf';
};

/** The first characters of the base64 of an image; what a client calls it may be wrong, and providers check. */
const IMAGE_HEADS: readonly [head: RegExp, type: string][] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  // `RIFF`, four bytes of length, `WEBP`
  [/^UklGR.{6}XRUJQ/, 'image/webp'],
];

/** The type of an image by its bytes; undefined for formats that models do not read. */
export const imageTypeOf = (base64: string): string | undefined =>
  IMAGE_HEADS.find(([head]) => head.test(base64))?.[1];

/** What is said in an answer: its text, without its data. */
export const saidIn = (content: readonly ContentBlock[]): string =>
  textOf(content.filter((block) => !isData(block)));
