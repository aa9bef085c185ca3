import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../schema/json.ts';
import type { InferenceSource } from '../model.ts';
import { listOf, objectOf, textOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/**
 * Reports the grounding of a completion: pages, pictures, places and documents. Each is reported once per completion.
 */
export const reportGrounding = (answer: AnswerWriter, grounding: JsonObject, reported: Set<string>): void => {
  for (const given of listOf(grounding.groundingChunks)) {
    const chunk = objectOf(given);
    const found = chunk && foundIn(chunk);
    if (!found || reported.has(found.place)) continue;
    reported.add(found.place);
    answer.source(sourceOf(found, randomUUID()));
  }
};

type Found = { place: string; title: string | undefined; isPage: boolean };

const foundIn = (chunk: JsonObject): Found | undefined => {
  const page = objectOf(chunk.web) ?? objectOf(chunk.image) ?? objectOf(chunk.maps);
  const retrieved = page ? undefined : objectOf(chunk.retrievedContext);
  const title = textOf((page ?? retrieved)?.title) || undefined;
  // The terms of use require the page of a picture, not the picture.
  const place = page
    ? textOf(page.uri) || textOf(page.sourceUri)
    : textOf(retrieved?.uri) || textOf(retrieved?.fileSearchStore);
  return place ? { place, title, isPage: page !== undefined || /^https?:\/\//.test(place) } : undefined;
};

const sourceOf = ({ place, title, isPage }: Found, id: string): InferenceSource => {
  if (isPage) return { type: 'url', id, url: place, ...(title && { title }) };
  const filename = place.slice(place.lastIndexOf('/') + 1);
  return {
    type: 'document',
    id,
    media_type: mediaTypeOf(filename),
    title: title ?? 'Unknown Document',
    ...(filename !== '' && { filename }),
  };
};

const TYPES: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['markdown', 'text/markdown'],
  ['doc', 'application/msword'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
]);

const mediaTypeOf = (filename: string): string =>
  TYPES.get(filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()) ?? 'application/octet-stream';
