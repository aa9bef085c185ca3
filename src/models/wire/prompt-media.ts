import { sizeOfBlock } from '../../schema/answer-part.ts';
import { describeMedia } from '../../schema/described-media.ts';
import { imageTypeOf, isTextType, type MediaBlock, type Modality, modalityOf } from '../../schema/media.ts';
import type { ContentBlock, Message } from '../../schema/message.ts';
import type { ModelSpec } from '../../schema/model.ts';
import { ModelError } from '../errors.ts';
import type { AcceptedInput } from '../model.ts';

/**
 * Files of a history: which of them a model is sent, and in which form.
 *
 * Guarantees: a file of a result is sent only to a model that is known to accept it, in a form that the format has; a
 * provider would refuse the request, and every later one, since the result stays in the history. Every file that is not
 * sent is described in its place.
 */

export type FilePart = {
  type: 'file';
  kind: MediaBlock['type'];
  /** Of an image, by its bytes. Where a URL has none: `image/*`, `application/pdf`, `audio/mpeg`, `video/mp4`. */
  mediaType: string;
  data: { base64: string } | { url: string };
  filename?: string;
};

/** What a model is known to accept. */
export type MediaRules = {
  modalities: ModelSpec['modalities'];
  /** The model accepts pictures that it has answered with; others only read that there was one. */
  ownPictures: boolean;
  files?: FileForms;
};

/** The files for which a wire format has a form. Without, it has one for each, in messages of users. */
export type FileForms = {
  /** Why there is none in a message of a user; undefined when there is one. */
  refusal?(part: FilePart): string | undefined;
  /** There is one in the result of a call; otherwise the file follows in a message of the user. */
  inResult?(part: FilePart): boolean;
};

/** Types that every model with images reads. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

/** Bytes of files of answers and results in a request: services accept 20 MB in all, as base64. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Of one image of a result; providers refuse larger ones, and with them the whole request. */
const LARGEST_IMAGE = 3.5 * 1024 * 1024;

/** The newest files of answers and of results, as many as go into a request. */
export const sentFiles = (
  messages: readonly Message[],
  accepts: AcceptedInput,
  { ownPictures, files = {} }: MediaRules,
): Set<ContentBlock> => {
  const sent = new Set<ContentBlock>();
  const ofAnswers = ownPictures && accepts?.includes('image') !== false;
  if (!ofAnswers && !accepts) return sent;
  const isSendable = (role: Message['role'], block: MediaBlock): boolean => {
    if (role === 'assistant') return ofAnswers && block.type === 'image' && isReadable(block);
    const part = filePart(block);
    return (
      role === 'tool' &&
      accepts?.includes(modalityOf(block)) === true &&
      isReadable(block) &&
      (block.type !== 'image' || sizeOfBlock(block) <= LARGEST_IMAGE) &&
      (files.inResult?.(part) === true || files.refusal?.(part) === undefined)
    );
  };
  let bytes = 0;
  for (const { role, content } of messages.toReversed()) {
    if (role !== 'assistant' && role !== 'tool') continue;
    for (const block of content) {
      if (!('source' in block) || !isSendable(role, block)) continue;
      bytes += sizeOfBlock(block);
      if (bytes > MOST_BYTES) return sent;
      sent.add(block);
    }
  }
  return sent;
};

/** An address may stop working, and then every request with it fails. */
const isReadable = (block: MediaBlock): boolean =>
  block.source.type === 'base64' && (block.type !== 'image' || IMAGES.has(filePart(block).mediaType));

/** A URL does not say what it leads to; these are the types that providers accept in its place. */
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
    data: source.type === 'base64' ? { base64: source.data } : { url: source.url },
    ...(title !== undefined && { filename: title.toWellFormed() }),
  };
};

const sentType = ({ type, source }: MediaBlock): string => {
  if (source.type === 'url') return ASSUMED_TYPE[type];
  return (type === 'image' && imageTypeOf(source.data)) || source.media_type;
};

/** Text in a file, for formats without a form for such a file; undefined for other files. A blank text is refused. */
export const textOfFile = ({ mediaType, data, filename = '' }: FilePart): string | undefined => {
  if ('url' in data || !isTextType(mediaType)) return undefined;
  const text = new TextDecoder().decode(Buffer.from(data.base64, 'base64'));
  return text.trim() === '' ? `(empty file ${filename}`.trimEnd().concat(')') : text;
};

/**
 * A file of a user, or its description where the model cannot be sent it and has answered the message before: an agent
 * may have another model by now.
 *
 * @throws ModelError `invalid_request` for a file in a message without an answer
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

/** The suffix of what a format refuses. */
export const unsupported = (what: string): string => `${what} not supported by this provider`;
