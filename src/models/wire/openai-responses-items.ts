import type { JsonObject } from '../../schema/json.ts';
import type { InferenceSource } from '../model.ts';
import { listOf, objectOf, textOf } from './read.ts';

/** Readers for finished output items, independent of the event that contained them. */

/** The text of a message; a refusal counts as text. */
export const textOfMessage = ({ content }: JsonObject): string =>
  listOf(content)
    .map((each) => {
      const part = objectOf(each);
      if (part?.type === 'output_text') return textOf(part.text) ?? '';
      return part?.type === 'refusal' ? (textOf(part.refusal) ?? '') : '';
    })
    .join('');

/** The summary of a reasoning item; open-weight models return the reasoning itself. */
export const reasoningTextOf = ({ summary, content }: JsonObject): string =>
  textsIn(summary, 'summary_text').join('') || textsIn(content, 'reasoning_text').join('');

const textsIn = (list: unknown, type: string): string[] =>
  listOf(list).flatMap((each) => {
    const part = objectOf(each);
    return part?.type === type && typeof part.text === 'string' ? [part.text] : [];
  });

export const encryptedOf = ({ encrypted_content }: JsonObject): string | undefined =>
  textOf(encrypted_content) || undefined;

/** The fields of a reasoning item that a request may contain. */
export const createReasoningItem = ({ id, summary }: JsonObject, encrypted_content: string): JsonObject => ({
  type: 'reasoning',
  ...(typeof id === 'string' && id !== '' && { id }),
  summary: textsIn(summary, 'summary_text').map((text) => ({ type: 'summary_text', text })),
  encrypted_content,
});

export const sourceOfAnnotation = (annotation: JsonObject, id: string): InferenceSource | undefined => {
  const { type, filename, file_id } = annotation;
  switch (type) {
    case 'url_citation':
      return urlSource(annotation, id);
    case 'container_file_citation':
      return fileSource(textOf(filename) || textOf(file_id), 'text/plain', fileReference(annotation) ?? id);
    case 'file_citation':
      return fileSource(textOf(filename) || textOf(file_id), 'text/plain', id);
    case 'file_path':
      return fileSource(textOf(file_id), 'application/octet-stream', id);
    default:
      return undefined;
  }
};

/** The reference for fetching the file from the provider. */
const fileReference = ({ container_id, file_id }: JsonObject): string | undefined =>
  typeof container_id === 'string' && typeof file_id === 'string' ? `${container_id}/${file_id}` : undefined;

const urlSource = ({ url, title }: JsonObject, id: string): InferenceSource | undefined =>
  typeof url === 'string' && url !== ''
    ? { type: 'url', id, url, ...(typeof title === 'string' && title !== '' && { title }) }
    : undefined;

const fileSource = (name: string | undefined, media_type: string, id: string): InferenceSource | undefined =>
  name ? { type: 'document', id, media_type, title: name, filename: name } : undefined;

/** Sources of a message, or of a built-in search tool. */
export const sourcesOfItem = (item: JsonObject, nextId: () => string): InferenceSource[] => {
  switch (item.type) {
    case 'message':
      return listOf(item.content).flatMap((part) =>
        sourcesIn(objectOf(part)?.annotations, nextId, sourceOfAnnotation),
      );
    case 'web_search_call':
      return sourcesIn(objectOf(item.action)?.sources, nextId, urlSource);
    case 'file_search_call':
      return sourcesIn(item.results, nextId, ({ filename, file_id }, id) =>
        fileSource(textOf(filename) || textOf(file_id), 'text/plain', id),
      );
    default:
      return [];
  }
};

const sourcesIn = (
  list: unknown,
  nextId: () => string,
  sourceOf: (entry: JsonObject, id: string) => InferenceSource | undefined,
): InferenceSource[] =>
  listOf(list).flatMap((each) => {
    const entry = objectOf(each);
    return (entry && sourceOf(entry, nextId())) ?? [];
  });
