import { kindOfMedia } from '../schema/media-kind.ts';
import type { InputBlock } from '../schema/message.ts';

/** `btoa` takes a string of one character per byte, and the number of arguments of a call is limited. */
const CHUNK = 32 * 1024;

/**
 * Converts a file to message content: an image, audio, video or document, depending on its media type.
 *
 * @param title displayed with the file, and read by models that do not accept it; default: the name of a `File`
 * @throws TypeError when the blob has no media type
 * @example
 * ```ts
 * const notes = await fileBlock(new File(['Rain in Rome'], 'notes.txt', { type: 'text/plain' }));
 * const content: InputBlock[] = [{ type: 'text', text: 'What is this?' }, notes];
 * const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content }] });
 * ```
 */
export const fileBlock = async (file: Blob, title = nameOf(file)): Promise<InputBlock> => {
  const media_type = file.type;
  if (media_type === '') throw new TypeError('the blob has no media type: set `type`, such as image/png');
  const data = base64Of(new Uint8Array(await file.arrayBuffer()));
  return {
    type: kindOfMedia(media_type),
    source: { type: 'base64', media_type, data },
    ...(title && { title }),
  };
};

const nameOf = (file: Blob): string | undefined =>
  'name' in file && typeof file.name === 'string' ? file.name : undefined;

const base64Of = (bytes: Uint8Array): string => {
  let text = '';
  for (let from = 0; from < bytes.length; from += CHUNK)
    text += String.fromCharCode(...bytes.subarray(from, from + CHUNK));
  return btoa(text);
};
