import { isName } from '../schema/answer-part.ts';
import { decodedSize } from '../schema/base64.ts';
import { describeMedia } from '../schema/described-media.ts';
import { imageTypeOf, type MediaBlock, mediaBlock } from '../schema/media.ts';
import type { Json } from './tool.ts';

/**
 * Results of tools as a model reads them: a file in base64 is described in its place, because an image of 200 KB as text
 * costs 200,000 characters in this request and in each one after it. The files are returned as blocks in addition to the
 * text, for the models that accept them.
 *
 * Every place where a file may stand is found by its shape: base64 text with a media type next to it, as in results of
 * MCP and parts of A2A, and `data:` addresses in any text. Results of clients and of traces keep what the tool returned.
 */
export type Shown = { text: string; files: readonly MediaBlock[] };

/** The JSON of a result. */
export const shownJson = (result: Json): Shown => {
  const files: MediaBlock[] = [];
  return { text: JSON.stringify(walk(result, files)), files };
};

export const shownText = (text: string): Shown => {
  const files: MediaBlock[] = [];
  return { text: withoutAddresses(text, files), files };
};

/** Without an allocation for results without files, which most are. */
const walk = (value: Json, files: MediaBlock[]): Json => {
  if (typeof value === 'string') return withoutAddresses(value, files);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => walk(item, files));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const type = mediaTypeIn(value);
  const members = Object.entries(value).map(([name, member]): [string, Json] => {
    if (type !== undefined && typeof member === 'string' && PAYLOADS.has(name) && isBase64(member))
      return [name, described({ type, data: member, name: nameIn(value) }, files)];
    return [name, walk(member, files)];
  });
  return members.every(([name, member]) => member === value[name]) ? value : Object.fromEntries(members);
};

/** Members in which formats keep a file as base64. */
const PAYLOADS: ReadonlySet<string> = new Set(['data', 'blob', 'bytes', 'raw', 'base64', 'content', 'file']);
const TYPES = ['mimeType', 'mediaType', 'media_type', 'mime_type', 'contentType', 'content_type'] as const;
const FILENAMES = ['filename', 'name'] as const;

type Members = Readonly<Record<string, Json>>;

const mediaTypeIn = (value: Members): string | undefined => {
  for (const name of TYPES) {
    const type = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof type === 'string' && TYPE.test(type)) return type.toLowerCase();
  }
  return value.type === 'image' || value.type === 'audio' ? `${value.type}/*` : undefined;
};

const nameIn = (value: Members): string | undefined => {
  for (const key of FILENAMES) {
    const name = Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof name === 'string' && isName(name)) return name;
  }
  return undefined;
};

const TYPE = /^[\w.+-]+\/[\w.+*-]+/;

/** Of text, base64 is an encoding that a model may want to read. */
const SHORTEST = 64;

// Searches for the first other character: an expression that repeats a class runs out of stack on a text of some MB.
const OUTSIDE = /[^A-Za-z0-9+/_\r\n-]/;
const OUTSIDE_ADDRESS = /[^A-Za-z0-9+/_-]/g;

const isBase64 = (text: string): boolean => {
  if (text.length < SHORTEST) return false;
  const trimmed = text.trimEnd();
  const padding = trimmed.endsWith('==') ? 2 : trimmed.endsWith('=') ? 1 : 0;
  return !OUTSIDE.test(trimmed.slice(0, trimmed.length - padding));
};

/** Where the base64 that begins at `start` ends, with its padding. */
const endOfData = (text: string, start: number): number => {
  OUTSIDE_ADDRESS.lastIndex = start;
  const end = OUTSIDE_ADDRESS.exec(text)?.index ?? text.length;
  if (text.startsWith('==', end)) return end + 2;
  return text.startsWith('=', end) ? end + 1 : end;
};

const HEAD = /data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[\w.-]+)*;base64,/g;

const withoutAddresses = (text: string, files: MediaBlock[]): string => {
  if (!text.includes(';base64,')) return text;
  let shown = '';
  let from = 0;
  for (const { 0: head, 1: type = '', index } of text.matchAll(HEAD)) {
    const start = index + head.length;
    const end = endOfData(text, start);
    if (end - start < SHORTEST) continue;
    shown +=
      text.slice(from, index) + described({ type: type.toLowerCase(), data: text.slice(start, end) }, files);
    from = end;
  }
  return shown + text.slice(from);
};

/** Bounds of what is kept of one result; larger files are only described. */
const LARGEST_FILE = 3.5 * 1024 * 1024;
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_FILES = 16;

/** Some formats only say that it is an image. */
const ASSUMED_TYPES: Readonly<Record<string, string>> = { 'image/*': 'image/png', 'audio/*': 'audio/wav' };

type Found = { type: string; data: string; name?: string | undefined };

const described = ({ type, data: given, name }: Found, files: MediaBlock[]): string => {
  // Formats differ in the alphabet, and some break lines.
  const data = Buffer.from(given, 'base64').toString('base64');
  const media_type = (type.startsWith('image/') && imageTypeOf(data)) || ASSUMED_TYPES[type] || type;
  const block = mediaBlock(media_type, { type: 'base64', media_type, data }, name);
  if (fits(data, files)) files.push(block);
  return describeMedia(block);
};

const fits = (data: string, files: readonly MediaBlock[]): boolean => {
  const sizes = files.map(({ source }) => (source.type === 'base64' ? decodedSize(source.data) : 0));
  const held = sizes.reduce((sum, size) => sum + size, 0);
  const isKept = files.some(({ source }) => source.type === 'base64' && source.data === data);
  const size = decodedSize(data);
  return !isKept && files.length < MOST_FILES && size <= LARGEST_FILE && held + size <= MOST_BYTES;
};
