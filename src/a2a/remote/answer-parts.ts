import type { AnswerPart } from '../../schema/answer-part.ts';
import type { Json } from '../../schema/endpoint.ts';
import { UNKNOWN_TYPE } from '../../schema/media.ts';
import type { WirePart } from './wire.ts';

/** Parts of another service that are not text, as parts of an answer here. */
export const answerParts = (parts: readonly WirePart[]): AnswerPart[] => parts.flatMap(answerPart);

const answerPart = ({ raw, url, data, mediaType, filename }: WirePart): AnswerPart[] => {
  const media_type = mediaType?.trim() || undefined;
  const named = filename ? { filename } : {};
  if (raw !== undefined) return [{ file: raw, media_type: media_type ?? UNKNOWN_TYPE, ...named }];
  if (url !== undefined) return [{ url, ...(media_type !== undefined && { media_type }), ...named }];
  // It was read as JSON.
  return data === undefined || data === null ? [] : [{ data: data as Json, ...named }];
};
