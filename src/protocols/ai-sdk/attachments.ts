import { z } from 'zod';
import { decodedSize, isBase64 } from '../../schema/base64.ts';
import { fileIdIn } from '../../schema/file-url.ts';
import { mediaBlock, splitDataUrl } from '../../schema/media.ts';
import type { ContentBlock } from '../../schema/message.ts';
import { Invalid } from '../../schema/outcome.ts';
import { describeIssues } from '../../schema/phrases.ts';

/** Validates files in messages and converts them to blocks (chat-and-agui.md 3.3, 3.4). */

const MOST_FILES = 4;
const MOST_BYTES = 8_388_608;
/** Length of the maximum size in base64, plus a head. */
const MOST_CHARACTERS = 11_185_834;

const FilePart = z.object({
  url: z.string(),
  mediaType: z.string(),
  filename: z.string().optional().catch(undefined),
});

export type Attachments = {
  /** @throws Invalid */
  add(part: object): ContentBlock;
};

/** The limits apply to one request. */
export const createAttachments = (): Attachments => {
  let files = 0;
  let bytes = 0;
  return {
    add(part) {
      const reference = referenceIn(part);
      if (reference) return reference;
      files += 1;
      if (files > MOST_FILES) throw new Invalid(`attachments are limited to ${MOST_FILES} files per request`);
      const { mime, data, name } = read(part);
      bytes += decodedLength(data);
      if (bytes > MOST_BYTES) throw new Invalid(`attachments are limited to ${MOST_BYTES} bytes per request`);
      return mediaBlock(mime, { type: 'base64', media_type: mime, data }, name);
    },
  };
};

/** Returns the block of a part that refers to an uploaded file. */
const referenceIn = (part: object): ContentBlock | undefined => {
  const { data } = FilePart.safeParse(part);
  const file_id = data && fileIdIn(data.url);
  if (file_id === undefined) return undefined;
  return mediaBlock(data?.mediaType ?? '', { type: 'file', file_id }, data?.filename?.trim());
};

/** @throws Invalid */
const read = (part: object): { mime: string; data: string; name: string | undefined } => {
  const parsed = FilePart.safeParse(part);
  if (!parsed.success) throw new Invalid(`invalid file attachment part: ${describeIssues(parsed.error)}`);
  const { url } = parsed.data;
  if (url.length > MOST_CHARACTERS) throw new Invalid('attachment data URL is too large');
  const inline = splitDataUrl(url);
  if (inline?.parameters !== '') throw new Invalid('file attachments must use data: URLs');
  const given = inline.media_type;
  const mime = given.trim().toLowerCase();
  const mediaType = parsed.data.mediaType.trim();
  if (mediaType.toLowerCase() !== mime) {
    throw new Invalid(
      `file attachment mediaType '${mediaType}' does not match data URL MIME '${given.trim()}'`,
    );
  }
  if (!isAllowed(mime)) throw new Invalid(`file attachment MIME type '${given.trim()}' is not allowed`);
  return { mime, data: inline.data, name: parsed.data.filename?.trim() };
};

const MEDIA = /^(image|audio|video)\/[^/]+$/;

const DOCUMENTS = new Set(['application/pdf', 'text/plain', 'text/markdown', 'application/json']);

const isAllowed = (mime: string): boolean => MEDIA.test(mime) || DOCUMENTS.has(mime);

const decodedLength = (data: string): number => {
  if (!isBase64(data)) throw new Invalid('file attachment data URL is not valid base64');
  return decodedSize(data);
};
