import type { Json, JsonObject } from '../../schema/endpoint.ts';
import {
  dataBlock,
  guessMediaType,
  JSON_TYPE,
  mediaBlock,
  sourceAt,
  UNKNOWN_TYPE,
} from '../../schema/media.ts';
import type { ContentBlock } from '../../schema/message.ts';

/**
 * Converts parts of a message to blocks (a2a.md 7.2); `partsOf` is the inverse. Data becomes text for the model, and
 * the block records its original form, so that a history returns it as data.
 */

/** A part with exactly one content; absent fields are undefined. */
export type InputPart = {
  text?: string | undefined;
  raw?: string | undefined;
  url?: string | undefined;
  data?: Json | undefined;
  mediaType?: string | undefined;
  filename?: string | undefined;
  metadata?: JsonObject | undefined;
};

export const toBlock = (part: InputPart): ContentBlock => {
  const { text, raw, url, data, mediaType, filename, metadata } = part;
  const named = mediaType?.trim() || undefined;
  if (text !== undefined) return { type: 'text', text, ...noteOf({ media_type: named, filename, metadata }) };
  const media_type = resolveMediaType(part);
  const note = noteOf({ metadata });
  if (raw !== undefined)
    return { ...mediaBlock(media_type, { type: 'base64', media_type, data: raw }, filename), ...note };
  if (url !== undefined) {
    const source = sourceAt(url, named);
    return { ...mediaBlock(source.media_type ?? media_type, source, filename), ...note };
  }
  const other = named === JSON_TYPE ? undefined : named;
  return { ...dataBlock(JSON.stringify(data)), ...noteOf({ media_type: other, filename, metadata }) };
};

type Note = {
  media_type?: string | undefined;
  filename?: string | undefined;
  metadata?: JsonObject | undefined;
};

/** Returns the properties of a part that a block cannot represent. */
const noteOf = ({ media_type, filename, metadata }: Note): Pick<ContentBlock & { type: 'text' }, 'part'> => {
  const part = {
    ...(media_type !== undefined && { media_type }),
    ...(filename && { filename }),
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
  };
  return Object.keys(part).length > 0 ? { part } : {};
};

/** Returns the media type of a part as listed in the input modes of a card. */
export const resolveMediaType = ({ text, raw, url, mediaType }: InputPart): string => {
  const named = mediaType?.trim();
  if (text !== undefined) return 'text/plain';
  if (named && (raw !== undefined || url !== undefined)) return named;
  if (url !== undefined) return guessMediaType(url);
  return raw === undefined ? JSON_TYPE : UNKNOWN_TYPE;
};
