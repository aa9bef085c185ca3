import type { Json } from '../schema/endpoint.ts';
import { inexactInteger } from '../schema/exact-integers.ts';
import type { JsonObject } from '../schema/json.ts';
import {
  isData,
  JSON_TYPE,
  type MediaBlock,
  type TextBlock,
  typeOfMedia,
  urlOfMedia,
} from '../schema/media.ts';
import type { ContentBlock } from '../schema/message.ts';

/**
 * Converts content blocks to parts of an A2A message (a2a.md 8.2).
 *
 * Content for the agent itself has no part: thinking, tool calls and their results. Received data is sent as data
 * again, and the metadata of a received part is sent with it.
 */
export type Part = ({ text: string } | { raw: string } | { url: string } | { data: Json }) & {
  mediaType?: string;
  filename?: string;
  metadata?: JsonObject;
};

/** Keeps the order of the blocks; returns an empty list if none of them can be sent. */
export const partsOf = (content: readonly ContentBlock[]): Part[] =>
  content.flatMap((block) => {
    switch (block.type) {
      case 'text':
        return { ...(isData(block) ? dataPart(block.text) : { text: block.text }), ...noteOf(block) };
      case 'image':
      case 'audio':
      case 'video':
      case 'document':
        return { ...mediaPart(block), ...noteOf(block) };
      default:
        return [];
    }
  });

const dataPart = (text: string): Part => {
  // Text preserves all digits.
  if (inexactInteger(text) !== undefined) return { text };
  try {
    return { data: JSON.parse(text), mediaType: JSON_TYPE };
  } catch {
    return { text };
  }
};

const mediaPart = (block: MediaBlock): Part => {
  const { source, title } = block;
  const about = { mediaType: typeOfMedia(block), ...(title !== undefined && { filename: title }) };
  return source.type === 'base64'
    ? { raw: source.data, ...about }
    : { url: urlOfMedia(block, about.mediaType), ...about };
};

const noteOf = ({
  part = {},
}: MediaBlock | TextBlock): Pick<Part, 'mediaType' | 'filename' | 'metadata'> => ({
  ...(part.media_type !== undefined && { mediaType: part.media_type }),
  ...(part.filename !== undefined && { filename: part.filename }),
  ...(part.metadata !== undefined && { metadata: part.metadata }),
});
