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
export const mediaBlock = (media_type: string, source: MediaBlock['source'], title?: string): MediaBlock => {
  const family = media_type.trim().toLowerCase();
  const type = KINDS.find((kind) => family.startsWith(`${kind}/`)) ?? 'document';
  return { type, source, ...(title && { title }) };
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

/** What is said in an answer: its text, without its data. */
export const saidIn = (content: readonly ContentBlock[]): string =>
  textOf(content.filter((block) => !isData(block)));
