import type { JsonObject } from '../../schema/json.ts';
import { ModelError } from '../errors.ts';
import type { FilePart } from './prompt-media.ts';

/** A file of a user as a block. @throws ModelError `invalid_request` for a type that the protocol has no block for */
export const fileBlock = (part: FilePart): JsonObject => {
  const type = typeOf(part.mediaType);
  if (type.startsWith('image/')) return { type: 'image', source: imageSource(part, type) };
  if (type === 'application/pdf') return document(part, sourceOf(part, type));
  if (type.startsWith('text/')) return textDocument(part);
  throw new ModelError('invalid_request', `media type: ${part.mediaType} not supported by this provider`);
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
