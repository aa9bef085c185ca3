import { z } from 'zod';
import { type MediaBlock, mediaBlock, sourceAt } from '../../schema/media.ts';
import { kindOfMedia } from '../../schema/media-kind.ts';
import type { ContentBlock } from '../../schema/message.ts';

/** The content of client messages: text or a list of parts (chat-and-agui.md 11.2). */

const Source = z.discriminatedUnion('type', [
  z.object({ type: z.literal('data'), value: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('url'), value: z.string(), mimeType: z.string().optional().catch(undefined) }),
]);

const Part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio', 'video', 'document']), source: Source }),
  z.object({
    type: z.literal('binary'),
    mimeType: z.string(),
    id: z.string().optional().catch(undefined),
    data: z.string().optional(),
    url: z.string().optional(),
  }),
]);

/** Returns an empty list if no content is usable. Unknown parts are ignored. */
export const toBlocks = (content: unknown): ContentBlock[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.flatMap((part) => toBlock(part) ?? []) : [];
};

/** Returns only the text, as one block. */
export const toTextBlock = (content: unknown): ContentBlock[] => {
  const texts = toBlocks(content).flatMap((block) => (block.type === 'text' ? block.text : []));
  return texts.length === 0 ? [] : [{ type: 'text', text: texts.join('') }];
};

const toBlock = (value: unknown): ContentBlock | undefined => {
  const { data: part } = Part.safeParse(value);
  if (part?.type === 'text') return { type: 'text', text: part.text };
  if (part?.type === 'binary') return binaryBlock(part);
  return part && typedBlock(part.type, sourceOf(part.source));
};

/** The media type of a document may be that of an image. */
const typedBlock = (type: MediaBlock['type'], source: MediaBlock['source']): MediaBlock =>
  type === 'document' && source.media_type !== undefined
    ? { type: kindOfMedia(source.media_type), source }
    : { type, source };

const sourceOf = (source: z.output<typeof Source>): MediaBlock['source'] =>
  source.type === 'url'
    ? sourceAt(source.value, source.mimeType)
    : { type: 'base64', media_type: source.mimeType, data: source.value };

/** A legacy form without kinds of media. An id is that of an uploaded file. */
const binaryBlock = ({
  mimeType,
  id,
  data,
  url,
}: Extract<z.output<typeof Part>, { type: 'binary' }>): MediaBlock | undefined => {
  if (data !== undefined) return mediaBlock(mimeType, { type: 'base64', media_type: mimeType, data });
  if (url !== undefined) return mediaBlock(mimeType, sourceAt(url, mimeType));
  return id === undefined ? undefined : mediaBlock(mimeType, { type: 'file', file_id: id });
};
