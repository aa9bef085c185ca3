import type { JsonObject } from '../../schema/json.ts';
import { isTextType } from '../../schema/media.ts';
import { type FileForms, type FilePart, unsupported } from './prompt-media.ts';

/** Files as blocks, in messages of the user and in results. */

const hasBlock = (part: FilePart): boolean => {
  const type = typeOf(part.mediaType);
  return type.startsWith('image/') || type === 'application/pdf' || isTextType(type);
};

export const fileForms: FileForms = {
  refusal: (part) => (hasBlock(part) ? undefined : unsupported(`media type: ${part.mediaType}`)),
  inResult: hasBlock,
};

/** A file that has a block. */
export const fileBlock = (part: FilePart): JsonObject => {
  const type = typeOf(part.mediaType);
  if (type.startsWith('image/')) return { type: 'image', source: imageSource(part, type) };
  if (type === 'application/pdf') return document(part, sourceOf(part, type));
  return textDocument(part);
};

/** Without parameters, such as a character set. */
const typeOf = (mediaType: string): string => (mediaType.split(';')[0] ?? '').trim().toLowerCase();

/** Some programs write types that the service does not know. */
const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ['image/*', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
]);

const imageSource = (part: FilePart, type: string): JsonObject =>
  sourceOf(part, IMAGE_TYPES.get(type) ?? type);

const sourceOf = ({ data }: FilePart, media_type: string): JsonObject =>
  'url' in data ? { type: 'url', url: data.url } : { type: 'base64', media_type, data: data.base64 };

/** Longer titles are refused. */
const LONGEST_TITLE = 500;

const document = ({ filename = '' }: FilePart, source: JsonObject): JsonObject => ({
  type: 'document',
  source,
  ...(filename.trim() !== '' && { title: filename.slice(0, LONGEST_TITLE).toWellFormed() }),
});

const textDocument = (part: FilePart): JsonObject => {
  if ('url' in part.data) return document(part, sourceOf(part, 'text/plain'));
  const data = new TextDecoder().decode(Buffer.from(part.data.base64, 'base64'));
  // A document without text is refused.
  if (data.trim() === '')
    return { type: 'text', text: `(empty file ${part.filename ?? ''}`.trimEnd().concat(')') };
  return document(part, { type: 'text', media_type: 'text/plain', data });
};
