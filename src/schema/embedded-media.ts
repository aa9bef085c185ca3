import type { Json } from './json.ts';

/**
 * Finds files in JSON and text by their shape: base64 text with a media type next to it, as in results of MCP and parts
 * of A2A, and `data:` URLs in any text. Pages load this module without schemas.
 */

/** `data`: base64 of either alphabet, which may have line breaks. */
export type EmbeddedMedia = { type: string; data: string; name?: string | undefined };

/** @returns the replacement text for the file */
type Replace = (file: EmbeddedMedia) => string;

/** Values without files, which most results are, are returned without a copy. */
export const replaceMedia = (value: Json, replace: Replace): Json => {
  if (typeof value === 'string') return replaceAddresses(value, replace);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => replaceMedia(item, replace));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const type = mediaTypeIn(value);
  const members = Object.entries(value).map(([name, member]): [string, Json] => {
    if (type !== undefined && typeof member === 'string' && PAYLOADS.has(name) && isBase64(member))
      return [name, replace({ type, data: member, name: nameIn(value) })];
    return [name, replaceMedia(member, replace)];
  });
  return members.every(([name, member]) => member === value[name]) ? value : Object.fromEntries(members);
};

/** Members in which formats store a file as base64. */
const PAYLOADS: ReadonlySet<string> = new Set(['data', 'blob', 'bytes', 'raw', 'base64', 'content', 'file']);

/** Some formats only state the general kind. */
const ASSUMED_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['image', 'image/png'],
  ['image/*', 'image/png'],
  ['audio', 'audio/wav'],
  ['audio/*', 'audio/wav'],
]);

const TYPES = ['mimeType', 'mediaType', 'media_type', 'mime_type', 'contentType', 'content_type'] as const;
const FILENAMES = ['filename', 'name'] as const;

type Members = Readonly<Record<string, Json>>;

const mediaTypeIn = (value: Members): string | undefined => {
  for (const name of TYPES) {
    const type = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof type !== 'string' || !TYPE.test(type)) continue;
    return ASSUMED_TYPES.get(type.toLowerCase()) ?? type.toLowerCase();
  }
  return ASSUMED_TYPES.get(value.type);
};

const nameIn = (value: Members): string | undefined => {
  for (const key of FILENAMES) {
    const name = Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof name === 'string') return name;
  }
  return undefined;
};

const TYPE = /^[\w.+-]+\/[\w.+*-]+/;

/** Shorter base64 is probably an encoding that a model may want to read. */
const SHORTEST = 64;

// Searches for the first other character: a repeated character class overflows the stack on a text of several MB.
const OUTSIDE = /[^A-Za-z0-9+/_\r\n-]/;
const OUTSIDE_ADDRESS = /[^A-Za-z0-9+/_-]/g;

const isBase64 = (text: string): boolean => {
  if (text.length < SHORTEST) return false;
  const trimmed = text.trimEnd();
  const padding = trimmed.endsWith('==') ? 2 : trimmed.endsWith('=') ? 1 : 0;
  return !OUTSIDE.test(trimmed.slice(0, trimmed.length - padding));
};

/** Returns the end of the base64 that begins at `start`, including its padding. */
const endOfData = (text: string, start: number): number => {
  OUTSIDE_ADDRESS.lastIndex = start;
  const end = OUTSIDE_ADDRESS.exec(text)?.index ?? text.length;
  if (text.startsWith('==', end)) return end + 2;
  return text.startsWith('=', end) ? end + 1 : end;
};

const HEAD = /data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[\w.-]+)*;base64,/g;

export const replaceAddresses = (text: string, replace: Replace): string => {
  if (!text.includes(';base64,')) return text;
  let shown = '';
  let from = 0;
  for (const { 0: head, 1: type = '', index } of text.matchAll(HEAD)) {
    const start = index + head.length;
    const end = endOfData(text, start);
    if (end - start < SHORTEST) continue;
    shown += text.slice(from, index) + replace({ type: type.toLowerCase(), data: text.slice(start, end) });
    from = end;
  }
  return shown + text.slice(from);
};
