import { describeInputProblem, inputProblem } from '../../schema/input-content.ts';
import { guessMediaType, mediaBlock, sourceAt, splitDataUrl, UNKNOWN_TYPE } from '../../schema/media.ts';
import type { InputBlock } from '../../schema/message.ts';
import { fileNotFound, invalidValue } from './errors.ts';

/** Files in the content of messages, which both kinds of requests name in the same ways (openai.md 9). */

type NamedFile = {
  file_id?: string | null | undefined;
  /** Also `troupe-file:<id>`. */
  url?: string | null | undefined;
  /** Base64, or a `data:` URL. */
  data?: string | null | undefined;
  filename?: string | null | undefined;
};

/** Undefined if the part names no file. The kind of a stored file follows from its type when it is accepted. */
export const fileBlock = ({ file_id, url, data, filename }: NamedFile): InputBlock | undefined => {
  const title = filename ?? undefined;
  if (file_id != null) return mediaBlock(UNKNOWN_TYPE, { type: 'file', file_id }, title);
  if (url != null) return mediaBlock(guessMediaType(url), sourceAt(url), title);
  if (data == null) return undefined;
  const inline = splitDataUrl(data);
  const media_type = inline?.media_type ?? guessMediaType(filename ?? '');
  return mediaBlock(media_type, { type: 'base64', media_type, data: inline?.data ?? data }, title);
};

/** Undefined if the part names no image. */
export const imageBlock = ({ file_id, url }: Pick<NamedFile, 'file_id' | 'url'>): InputBlock | undefined => {
  if (file_id != null) return { type: 'image', source: { type: 'file', file_id } };
  return url == null ? undefined : { type: 'image', source: sourceAt(url) };
};

/** @param at path of the content @throws OpenAiError */
export const checkBlocks = (blocks: readonly InputBlock[], at: string): void => {
  const problem = inputProblem(blocks);
  if (!problem) return;
  const param = `${at}[${problem.index}]`;
  const block = blocks[problem.index];
  if (problem.field === 'file_id' && block && 'source' in block && block.source.type === 'file')
    throw fileNotFound(block.source.file_id.slice(0, LONGEST_SHOWN), param);
  throw invalidValue(param, describeInputProblem(problem));
};

const LONGEST_SHOWN = 128;
