import { sizeOfBlock } from '../../schema/answer-part.ts';
import type { MediaBlock } from '../../schema/media.ts';
import type { ContentBlock, Message } from '../../schema/message.ts';
import type { ModelSpec } from '../../schema/model.ts';
import { ModelError } from '../errors.ts';

/** Files of a history: which of them a model is sent, and in which form. */

export type FilePart = {
  type: 'file';
  kind: MediaBlock['type'];
  /** Where a URL does not say what it leads to: `image/*`, `application/pdf`, `audio/mpeg`, `video/mp4`. */
  mediaType: string;
  data: { base64: string } | { url: string };
  filename?: string;
};

/** What a model is known to accept. */
export type MediaRules = {
  modalities: ModelSpec['modalities'];
  /** The model accepts pictures that it has answered with; others only read that there was one. */
  ownPictures: boolean;
};

/** Types that models which draw read as well. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

/** Bytes of pictures in a request: services accept 20 MB in all, as base64. */
const MOST_PICTURES = 8 * 1024 * 1024;

/** The newest pictures of answers and of results, as many as go into a request. */
export const picturesIn = (
  messages: readonly Message[],
  { modalities, ownPictures }: MediaRules,
): Set<ContentBlock> => {
  const found = new Set<ContentBlock>();
  const takes = modalities?.input?.length ? modalities.input.includes('image') : undefined;
  const ofAnswers = ownPictures && takes !== false;
  // A model refuses a request for a picture that it does not accept, and results stay in each request after them.
  const ofResults = takes === true;
  if (!ofAnswers && !ofResults) return found;
  let bytes = 0;
  for (const { role, content } of messages.toReversed()) {
    if (!(role === 'assistant' ? ofAnswers : role === 'tool' && ofResults)) continue;
    for (const block of content) {
      if (block.type !== 'image' || block.source.type !== 'base64') continue;
      bytes += sizeOfBlock(block);
      if (bytes > MOST_PICTURES) return found;
      if (PICTURES.has(block.source.media_type.toLowerCase())) found.add(block);
    }
  }
  return found;
};

/** A URL does not say what it leads to; these are the types that providers accept in its place. */
const ASSUMED_TYPE: Record<MediaBlock['type'], string> = {
  image: 'image/*',
  document: 'application/pdf',
  audio: 'audio/mpeg',
  video: 'video/mp4',
};

export const filePart = (block: MediaBlock, { modalities }: Pick<MediaRules, 'modalities'>): FilePart => {
  const { source, title } = block;
  const mediaType = source.type === 'base64' ? source.media_type : ASSUMED_TYPE[block.type];
  const modality = modalityOf(block.type, mediaType);
  if (modalities?.input?.length && !modalities.input.includes(modality)) {
    throw new ModelError('invalid_request', `this model does not take ${modality} input`);
  }
  return {
    type: 'file',
    kind: block.type,
    mediaType,
    data: source.type === 'base64' ? { base64: source.data } : { url: checkedUrl(source.url) },
    ...(title !== undefined && { filename: title.toWellFormed() }),
  };
};

const modalityOf = (
  type: MediaBlock['type'],
  mediaType: string,
): 'text' | 'image' | 'audio' | 'video' | 'pdf' => {
  if (type !== 'document') return type;
  return mediaType.startsWith('text/') ? 'text' : 'pdf';
};

const checkedUrl = (text: string): string => {
  if (URL.canParse(text)) return new URL(text).href;
  throw new ModelError('invalid_request', `'${text}' is not a URL`);
};
