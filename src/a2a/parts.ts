import type { Json } from '../schema/endpoint.ts';
import type { ContentBlock } from '../schema/message.ts';

/**
 * Content blocks as parts of an A2A message (a2a.md 8.2).
 *
 * What only the agent itself needs has no part: thinking, tool calls and their results. Data that came as data is
 * data again.
 */
export type Part = ({ text: string } | { raw: string } | { url: string } | { data: Json }) & {
  mediaType?: string;
  filename?: string;
};

/** In the order of the blocks; empty when none of them can be sent. */
export const partsOf = (content: readonly ContentBlock[]): Part[] =>
  content.flatMap((block) => {
    switch (block.type) {
      case 'text':
        return block.media_type === JSON_TYPE ? dataPart(block.text) : { text: block.text };
      case 'image':
      case 'audio':
      case 'video':
      case 'document':
        return mediaPart(block.source, block.title);
      default:
        return [];
    }
  });

const JSON_TYPE = 'application/json';

const dataPart = (text: string): Part => {
  try {
    return { data: JSON.parse(text), mediaType: JSON_TYPE };
  } catch {
    return { text };
  }
};

type MediaSource = Extract<ContentBlock, { source: unknown }>['source'];

const mediaPart = (source: MediaSource, title: string | undefined): Part => {
  const named = title === undefined ? {} : { filename: title };
  return source.type === 'base64'
    ? { raw: source.data, mediaType: source.media_type, ...named }
    : { url: source.url, mediaType: mediaTypeOf(source.url), ...named };
};

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
  return (Object.hasOwn(MEDIA_TYPES, suffix) && MEDIA_TYPES[suffix]) || 'application/octet-stream';
};
