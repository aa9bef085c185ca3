import { isHttpUrl, isMediaType, isName, LARGEST_PART, LONGEST_NAME, LONGEST_URL } from './answer-part.ts';
import { decodedSize, isBase64 } from './base64.ts';
import type { MediaBlock } from './media.ts';
import { kindOfMedia } from './media-kind.ts';
import type { ContentBlock } from './message.ts';

/**
 * Validates the content of user messages and tool results. Every protocol checks it before anything is stored:
 * providers reject a request with an unreadable file, and a thread with one in its history would fail in every later
 * run. Empty text is accepted (runtime.md 4.2).
 */

/** `field` is a field of the source, or `title`. `text` is the message that follows the field name. */
export type InputProblem = { index: number; type: MediaBlock['type']; field: string; text: string };

/** Returns the first problem; undefined if there is none. Cost: decodes the files. */
export function inputProblem(content: readonly ContentBlock[]): InputProblem | undefined {
  for (const [index, block] of content.entries()) {
    const problem = 'source' in block ? blockProblem(block) : undefined;
    if (problem) return { index, type: block.type as MediaBlock['type'], ...problem };
  }
  return undefined;
}

/** The message for protocols with other field names. */
export const describeInputProblem = ({ index, type, field, text }: InputProblem): string =>
  `block ${index} (${type}): ${field} ${text}`;

/** The message with the field names of content blocks: `content[1].source.data: must not be empty`. */
export const locateInputProblem = ({ index, field, text }: InputProblem): string =>
  `content[${index}].${field === 'title' ? field : `source.${field}`}: ${text}`;

type Problem = Pick<InputProblem, 'field' | 'text'>;

function blockProblem(block: MediaBlock): Problem | undefined {
  const { source, title } = block;
  if (title !== undefined && !isName(title))
    return { field: 'title', text: `must have 1 to ${LONGEST_NAME} characters, and no control characters` };
  const isChecked = source.media_type !== undefined && source.type !== 'file';
  const type = isChecked ? typeProblem(block.type, source.media_type ?? '') : undefined;
  if (type !== undefined) return { field: 'media_type', text: type };
  if (source.type === 'file') {
    const text = fileIdProblem(source.file_id);
    return text === undefined ? undefined : { field: 'file_id', text };
  }
  const text = source.type === 'url' ? urlProblem(source.url) : dataProblem(source.data);
  return text === undefined ? undefined : { field: source.type === 'url' ? 'url' : 'data', text };
}

function typeProblem(type: MediaBlock['type'], media_type: string): string | undefined {
  if (!isMediaType(media_type)) return `must be a media type such as 'image/png' (got ${quoted(media_type)})`;
  const kind = kindOfMedia(media_type);
  if (kind === type) return undefined;
  return type === 'document'
    ? `must not be of a type for which there is a block of type '${kind}' (got ${quoted(media_type)})`
    : `must be ${type}/* in a block of type '${type}' (got ${quoted(media_type)})`;
}

function fileIdProblem(file_id: string): string | undefined {
  return /^[\w-]{1,128}$/.test(file_id)
    ? undefined
    : `must be the id of an uploaded file (got ${quoted(file_id)})`;
}

function urlProblem(url: string): string | undefined {
  if (url.trim() === '') return 'must not be empty';
  if (/^\s*data:/i.test(url))
    return 'must be an http or https URL; bytes are sent as a source of type base64';
  return isHttpUrl(url)
    ? undefined
    : `must be an absolute http or https URL of at most ${LONGEST_URL} characters (got ${quoted(url)})`;
}

function dataProblem(data: string): string | undefined {
  if (data === '') return 'must not be empty';
  if (/^\s*data:/i.test(data)) return "must be base64 alone, without 'data:…;base64,' before it";
  const bytes = decodedSize(data);
  if (bytes > LARGEST_PART) return `holds ${bytes} bytes; at most ${LARGEST_PART} are allowed`;
  return isBase64(data) ? undefined : 'must be standard base64 with padding';
}

const MOST_QUOTED = 80;

const quoted = (text: string): string =>
  `'${text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text}'`;
