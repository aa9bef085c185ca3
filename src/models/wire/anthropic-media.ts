import type { JsonObject } from '../../schema/json.ts';
import { isTextType } from '../../schema/media.ts';
import { type FileForms, type FilePart, unsupported } from './prompt-media.ts';

/** Files as blocks, in user messages and in results. */

const hasBlock = ({ mediaType: type }: FilePart): boolean =>
  type.startsWith('image/') || type === 'application/pdf' || isTextType(type);

export const ANTHROPIC_FILES: FileForms = {
  refusal: (part) => (hasBlock(part) ? undefined : unsupported(`media type: ${part.mediaType}`)),
  inResult: hasBlock,
};

/** Requires a file for which a block exists. */
export const fileBlock = (part: FilePart): JsonObject => {
  const { mediaType: type } = part;
  if (type.startsWith('image/')) return { type: 'image', source: sourceOf(part) };
  return type === 'application/pdf' ? document(part, sourceOf(part)) : textDocument(part);
};

const sourceOf = ({ data, mediaType: media_type }: FilePart): JsonObject =>
  'url' in data ? { type: 'url', url: data.url } : { type: 'base64', media_type, data: data.base64 };

/** The service rejects longer titles. */
const LONGEST_TITLE = 500;

const document = ({ filename = '' }: FilePart, source: JsonObject): JsonObject => ({
  type: 'document',
  source,
  ...(filename.trim() !== '' && { title: filename.slice(0, LONGEST_TITLE).toWellFormed() }),
});

const textDocument = (part: FilePart): JsonObject => {
  if ('url' in part.data) return document(part, sourceOf(part));
  const data = new TextDecoder().decode(Buffer.from(part.data.base64, 'base64'));
  // The service rejects a document without text.
  if (data.trim() === '')
    return { type: 'text', text: `(empty file ${part.filename ?? ''}`.trimEnd().concat(')') };
  return document(part, { type: 'text', media_type: 'text/plain', data });
};
