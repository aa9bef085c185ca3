import { sizeOfBlock } from '../../schema/answer-part.ts';
import { describeMedia } from '../../schema/described-media.ts';
import {
  imageTypeOf,
  isTextType,
  type MediaBlock,
  type Modality,
  modalityOf,
  urlOfMedia,
} from '../../schema/media.ts';
import type { ContentBlock, Message } from '../../schema/message.ts';
import type { ModelSpec } from '../../schema/model.ts';
import { ModelError } from '../errors.ts';
import type { AcceptedInput } from '../model.ts';

/**
 * Selects the files of a history that a model receives, and their form.
 *
 * Guarantees: a file of a result is sent only to a model that is known to accept it, in a form that the format
 * supports; otherwise a provider would reject the request and every later one, because the result stays in the history.
 * Every other file is replaced by a description.
 */

export type FilePart = {
  type: 'file';
  kind: MediaBlock['type'];
  /**
   * Lowercase, without parameters; for an image, detected from its bytes. For URLs, whose type is unknown: `image/*`,
   * `application/pdf`, `audio/mpeg`, `video/mp4`.
   */
  mediaType: string;
  data: { base64: string } | { url: string };
  filename?: string;
};

/** The input that a model is known to accept. */
export type MediaRules = {
  modalities: ModelSpec['modalities'];
  /** Whether the model accepts pictures from its own completions; other models receive only a note. */
  ownPictures: boolean;
  files?: FileForms;
};

/** The files that a wire format can represent. Default: every file, in user messages. */
export type FileForms = {
  /** The reason for which a user message cannot contain the file; undefined if it can. */
  refusal?(part: FilePart): string | undefined;
  /** Whether the result of a call can contain the file; otherwise a user message after it does. */
  inResult?(part: FilePart): boolean;
};

/** Types that every model with image input accepts. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

/** Limit in bytes for files of completions and results in a request: services accept 20 MB in total, as base64. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Limit in bytes for one image of a result; providers reject a request with a larger one. */
const LARGEST_IMAGE = 3.5 * 1024 * 1024;

/** The newest files of completions and results, as many as fit into a request. */
export const sentFiles = (
  messages: readonly Message[],
  accepts: AcceptedInput,
  rules: MediaRules,
): Set<ContentBlock> => {
  const sent = new Set<ContentBlock>();
  let bytes = 0;
  for (const block of sendableFiles(messages, accepts, rules)) {
    bytes += sizeOfBlock(block);
    if (bytes > MOST_BYTES) return sent;
    sent.add(block);
  }
  return sent;
};

/** The newest message first. */
function* sendableFiles(
  messages: readonly Message[],
  accepts: AcceptedInput,
  { ownPictures, files = {} }: MediaRules,
): Generator<MediaBlock> {
  const ofAnswers = ownPictures && accepts?.includes('image') !== false;
  if (!ofAnswers && !accepts) return;
  for (const { role, content } of messages.toReversed()) {
    if (role === 'assistant' && ofAnswers) yield* mediaIn(content).filter(isPicture);
    else if (role === 'tool') yield* mediaIn(content).filter((block) => fitsResult(block, accepts, files));
  }
}

const mediaIn = (content: readonly ContentBlock[]): MediaBlock[] =>
  content.filter((block) => 'source' in block);

const isPicture = (block: MediaBlock): boolean => block.type === 'image' && isReadable(block);

const fitsResult = (block: MediaBlock, accepts: AcceptedInput, files: FileForms): boolean => {
  const part = filePart(block);
  return (
    accepts?.includes(modalityOf(block)) === true &&
    isReadable(block) &&
    (block.type !== 'image' || sizeOfBlock(block) <= LARGEST_IMAGE) &&
    (files.inResult?.(part) === true || files.refusal?.(part) === undefined)
  );
};

/** Excludes URLs: when one stops working, every request with it fails. */
const isReadable = (block: MediaBlock): boolean =>
  block.source.type === 'base64' && (block.type !== 'image' || IMAGES.has(filePart(block).mediaType));

/** The type behind a URL is unknown; providers accept these types instead. */
const ASSUMED_TYPE: Record<MediaBlock['type'], string> = {
  image: 'image/*',
  document: 'application/pdf',
  audio: 'audio/mpeg',
  video: 'video/mp4',
};

export const filePart = (block: MediaBlock): FilePart => {
  const { type: kind, source, title } = block;
  return {
    type: 'file',
    kind,
    mediaType: sentType(block),
    data: source.type === 'base64' ? { base64: source.data } : { url: urlOfMedia(block, '') },
    ...(title !== undefined && { filename: title.toWellFormed() }),
  };
};

const sentType = ({ type, source }: MediaBlock): string => {
  if (source.type !== 'base64') return ASSUMED_TYPE[type];
  if (type === 'image') {
    const byBytes = imageTypeOf(source.data);
    if (byBytes !== undefined) return byBytes;
  }
  const plain = (source.media_type.split(';')[0] ?? '').trim().toLowerCase();
  return JPEG_NAMES.has(plain) ? 'image/jpeg' : plain;
};

/** Types that some programs write but no provider accepts. */
const JPEG_NAMES: ReadonlySet<string> = new Set(['image/*', 'image/jpg']);

/** The text of a file, for formats without a form for it; undefined for other files. Providers reject blank text. */
export const textOfFile = ({ mediaType, data, filename = '' }: FilePart): string | undefined => {
  if ('url' in data || !isTextType(mediaType)) return undefined;
  const text = new TextDecoder().decode(Buffer.from(data.base64, 'base64'));
  return text.trim() === '' ? `(empty file ${filename}`.trimEnd().concat(')') : text;
};

/**
 * A file of a user, or its description if the model cannot receive it and a completion followed the message: the model
 * of the agent may have changed since.
 *
 * @throws ModelError `invalid_request` for such a file in a message without a completion
 */
export const userFile = (
  block: MediaBlock,
  accepts: AcceptedInput,
  { files = {}, isAnswered }: Pick<MediaRules, 'files'> & { isAnswered: boolean },
): FilePart | { type: 'text'; text: string } => {
  const part = filePart(block);
  const modality = modalityOf(block);
  const problem = unaccepted(modality, accepts) ?? urlProblem(part) ?? files.refusal?.(part);
  if (problem === undefined)
    return 'url' in part.data ? { ...part, data: { url: hrefOf(part.data.url) } } : part;
  if (isAnswered) return { type: 'text', text: describeMedia(block).toWellFormed() };
  throw new ModelError('invalid_request', problem);
};

const unaccepted = (modality: Modality, accepts: AcceptedInput): string | undefined =>
  accepts && !accepts.includes(modality) ? `this model does not take ${modality} input` : undefined;

const urlProblem = ({ data }: FilePart): string | undefined =>
  'url' in data && !URL.canParse(data.url) ? `'${data.url}' is not a URL` : undefined;

const hrefOf = (url: string): string => new URL(url).href;

/** The error message for content that a format cannot represent. */
export const unsupported = (what: string): string => `${what} not supported by this provider`;
