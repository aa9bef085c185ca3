import type { Json, JsonObject } from '../../schema/endpoint.ts';
import { dataBlock, JSON_TYPE, mediaBlock, mediaTypeOf, sourceAt, UNKNOWN_TYPE } from '../../schema/media.ts';
import type { ContentBlock } from '../../schema/message.ts';

/**
 * Parts of a message as blocks (a2a.md 7.2); `partsOf` is the way back. Data is text for the model; the block keeps
 * what it was, so that a history shows it as data again.
 */

/** A part with exactly one content; what was not there is undefined. */
export type InputPart = {
  text?: string | undefined;
  raw?: string | undefined;
  url?: string | undefined;
  data?: Json | undefined;
  mediaType?: string | undefined;
  filename?: string | undefined;
  metadata?: JsonObject | undefined;
};

export const blockOf = (part: InputPart): ContentBlock => {
  const { text, raw, url, data, mediaType, filename, metadata } = part;
  const named = mediaType?.trim() || undefined;
  if (text !== undefined) return { type: 'text', text, ...noteOf({ media_type: named, filename, metadata }) };
  const media_type = typeOf(part);
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

/** What the block itself has no place for. */
const noteOf = ({ media_type, filename, metadata }: Note): Pick<ContentBlock & { type: 'text' }, 'part'> => {
  const part = {
    ...(media_type !== undefined && { media_type }),
    ...(filename && { filename }),
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
  };
  return Object.keys(part).length > 0 ? { part } : {};
};

/** What a part holds, in the words of the input modes of a card. */
export const typeOf = ({ text, raw, url, mediaType }: InputPart): string => {
  const named = mediaType?.trim();
  if (text !== undefined) return 'text/plain';
  if (named && (raw !== undefined || url !== undefined)) return named;
  if (url !== undefined) return mediaTypeOf(url);
  return raw === undefined ? JSON_TYPE : UNKNOWN_TYPE;
};
