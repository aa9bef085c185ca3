import { isName } from '../schema/answer-part.ts';
import { decodedSize } from '../schema/base64.ts';
import { describeMedia } from '../schema/described-media.ts';
import { type EmbeddedMedia, replaceAddresses, replaceMedia } from '../schema/embedded-media.ts';
import { imageTypeOf, type MediaBlock, mediaBlock } from '../schema/media.ts';
import type { Json } from './tool.ts';

/**
 * Renders tool results for a model: a base64 file is replaced by its description, because an image of 200 KB as text
 * costs 200,000 characters in this request and in each later one. The files are returned as blocks in addition to the
 * text, for models that accept them. Results for clients and traces contain the original output of the tool.
 */
export type Shown = { text: string; files: readonly MediaBlock[] };

/** Renders a result as JSON. */
export const shownJson = (result: Json): Shown => {
  const files: MediaBlock[] = [];
  return { text: JSON.stringify(replaceMedia(result, (file) => described(file, files))), files };
};

export const shownText = (text: string): Shown => {
  const files: MediaBlock[] = [];
  return { text: replaceAddresses(text, (file) => described(file, files)), files };
};

/** Limits of the files kept from one result; larger files are only described. */
const LARGEST_FILE = 3.5 * 1024 * 1024;
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_FILES = 16;

const described = ({ type, data: given, name }: EmbeddedMedia, files: MediaBlock[]): string => {
  // Sources use different base64 alphabets, and some insert line breaks.
  const data = Buffer.from(given, 'base64').toString('base64');
  const media_type = (type.startsWith('image/') && imageTypeOf(data)) || type;
  const block = mediaBlock(
    media_type,
    { type: 'base64', media_type, data },
    name && isName(name) ? name : undefined,
  );
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
