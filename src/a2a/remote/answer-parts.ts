import type { AnswerPart } from '../../schema/answer-part.ts';
import type { Json } from '../../schema/endpoint.ts';
import { UNKNOWN_TYPE } from '../../schema/media.ts';
import type { WirePart } from './wire.ts';

/** Converts parts of a remote response that are not text to parts of a response of this service. */
export const answerParts = (parts: readonly WirePart[]): AnswerPart[] => parts.flatMap(answerPart);

const answerPart = ({ raw, url, data, mediaType, filename }: WirePart): AnswerPart[] => {
  const media_type = mediaType?.trim() || undefined;
  const named = filename ? { filename } : {};
  if (raw !== undefined) return [{ file: raw, media_type: media_type ?? UNKNOWN_TYPE, ...named }];
  if (url !== undefined) return [{ url, ...(media_type !== undefined && { media_type }), ...named }];
  // The value was parsed as JSON.
  return data === undefined || data === null ? [] : [{ data: data as Json, ...named }];
};
