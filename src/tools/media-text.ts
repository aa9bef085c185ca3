import type { MediaBlock } from '../schema/media.ts';
import type { Json } from './tool.ts';

/**
 * Results of tools as a model reads them: files in base64 are named in words, because a picture of 200 KB as text costs
 * 200,000 characters in this request and in each one after it. Pictures are returned as blocks in addition to the text, for the
 * models that take pictures.
 *
 * Every place where a file may stand is found by its shape: base64 text with a media type next to it, as in results of
 * MCP and parts of A2A, and `data:` addresses in any text. Results of clients and of traces keep what the tool returned.
 */
export type Shown = { text: string; pictures: readonly MediaBlock[] };

/** The JSON of a result. */
export const shownJson = (result: Json): Shown => {
  const pictures: MediaBlock[] = [];
  return { text: JSON.stringify(walk(result, pictures)), pictures };
};

export const shownText = (text: string): Shown => {
  const pictures: MediaBlock[] = [];
  return { text: withoutAddresses(text, pictures), pictures };
};

/** Without an allocation for results without files, which most are. */
const walk = (value: Json, pictures: MediaBlock[]): Json => {
  if (typeof value === 'string') return withoutAddresses(value, pictures);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => walk(item, pictures));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const type = mediaTypeIn(value);
  const members = Object.entries(value).map(([name, member]): [string, Json] => {
    if (type !== undefined && typeof member === 'string' && PAYLOADS.has(name) && isBase64(member))
      return [name, named(type, member, pictures)];
    return [name, walk(member, pictures)];
  });
  return members.every(([name, member]) => member === value[name]) ? value : Object.fromEntries(members);
};

/** Members in which formats keep a file as base64. */
const PAYLOADS: ReadonlySet<string> = new Set(['data', 'blob', 'bytes', 'raw', 'base64', 'content', 'file']);
const TYPES = ['mimeType', 'mediaType', 'media_type', 'mime_type', 'contentType', 'content_type'] as const;

const mediaTypeIn = (value: Readonly<Record<string, Json>>): string | undefined => {
  for (const name of TYPES) {
    const type = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof type === 'string' && TYPE.test(type)) return type.toLowerCase();
  }
  return value.type === 'image' || value.type === 'audio' ? `${value.type}/*` : undefined;
};

const TYPE = /^[\w.+-]+\/[\w.+*-]+/;

/** Of text, base64 is an encoding that a model may want to read. */
const SHORTEST = 64;

const isBase64 = (text: string): boolean => text.length >= SHORTEST && BASE64.test(text);

const BASE64 = /^[A-Za-z0-9+/_\r\n-]+={0,2}\s*$/;

const ADDRESS = /data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[\w.-]+)*;base64,([A-Za-z0-9+/_-]{64,}={0,2})/g;

const withoutAddresses = (text: string, pictures: MediaBlock[]): string =>
  text.includes(';base64,')
    ? text.replace(ADDRESS, (_, type: string, data: string) => named(type.toLowerCase(), data, pictures))
    : text;

/** Types that every model with pictures reads, by how their files begin in base64. */
const PICTURES: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['iVBORw0KGgo'],
  'image/jpeg': ['/9j/'],
  'image/webp': ['UklGR'],
};

/** Providers refuse larger ones, and with them the whole request. */
const LARGEST_PICTURE = 3.5 * 1024 * 1024;
const MOST_PICTURES = 16;

const named = (media_type: string, data: string, pictures: MediaBlock[]): string => {
  const type = Object.keys(PICTURES).find((each) => PICTURES[each]?.some((begin) => data.startsWith(begin)));
  const bytes = Math.floor((data.length * 3) / 4);
  const isPicture = media_type.startsWith('image/') && type !== undefined;
  const known = pictures.findIndex(({ source }) => source.type === 'base64' && source.data === data);
  if (known >= 0) return `[picture ${known + 1}]`;
  if (isPicture && bytes <= LARGEST_PICTURE && pictures.length < MOST_PICTURES) {
    pictures.push({ type: 'image', source: { type: 'base64', media_type: type, data } });
    return `[picture ${pictures.length}: ${type}, ${sizeOf(bytes)}]`;
  }
  return `[a file of type ${media_type} and ${sizeOf(bytes)} was left out]`;
};

const sizeOf = (bytes: number): string => `${Math.max(1, Math.round(bytes / 1024))} KB`;
